// Contraction to the coarsest bisimulation and canonical numbering, in one pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hashing.hpp"
#include "model.hpp"
#include "none.hpp"

namespace epi {

// Writes models in canonical form: two models whose worlds are all reachable from their designated worlds are bisimilar
// iff their packed forms are equal byte by byte.
//
// Colours are ranks. The initial colour of a world is the rank of its valuation, compared fluent by fluent in declared
// order, false before true. A round ranks the worlds by colour, then for each agent by the ascending sequence of the
// successors' colours; rounds repeat until no colour class splits.
template <class P>
class Contraction;

// Worlds in blocks of equal colour. A block's colour is the place of its first world in the order; it does not change
// when other blocks split.
class Blocks {
public:
    // Starts with one block of n worlds.
    void reset(World n);
    // Reserves bits of the 64-bit keys, from the left, and returns their offset from the right.
    unsigned reserve(unsigned bits) { return 64 - (key_bits_ += bits); }
    bool has_room(unsigned bits) const { return key_bits_ + bits <= 64; }
    // Splits every block by the keys of its worlds, in ascending order, and clears the keys.
    void split();

    World count() const { return static_cast<World>(first_.size()) - 1; }
    bool is_discrete() const { return count() == first_.back(); }
    World first(World block) const { return first_[block]; }
    World at(World place) const { return order_[place].world; }
    World representative(World block) const { return at(first_[block]); }

    std::vector<std::uint64_t> key;  // of each world

private:
    struct Entry {
        std::uint64_t key;
        World world;
    };

    void sort(World begin, World end);

    unsigned key_bits_ = 0;
    std::vector<Entry> order_, merged_;
    std::vector<World> first_, next_first_, runs_;
};

// The distinct relations over the blocks, in order of first use by an agent.
template <class R>
class DistinctRelations {
public:
    // Fills them; merge(r, out) replaces the worlds of the model's relation r by blocks.
    template <class P, class Merge>
    void fill(const Model<P>& model, Merge&& merge) {
        number_.assign(model.relations(), kNone);
        count_ = 0;
        for (auto r : model.relation_of) {
            if (number_[r] != kNone) continue;
            if (relations_.size() == count_) relations_.emplace_back();
            merge(r, relations_[count_]);
            const auto last = relations_.begin() + static_cast<std::ptrdiff_t>(count_);
            const auto found = std::find(relations_.begin(), last, *last);
            number_[r] = static_cast<std::uint32_t>(found - relations_.begin());
            if (found == last) ++count_;
        }
    }
    std::size_t size() const { return count_; }
    const R& operator[](std::size_t number) const { return relations_[number]; }
    // The number of a relation of the model.
    std::uint32_t number(std::uint32_t relation) const { return number_[relation]; }

private:
    std::vector<R> relations_;  // unused ones keep their memory
    std::size_t count_ = 0;
    std::vector<std::uint32_t> number_;  // per relation of the model
};

template <>
class Contraction<Dense> {
public:
    // Appends the packed form of the model's coarsest bisimulation. Relations are in order of first use by an agent.
    void pack(const Model<Dense>& model, Bytes& out);

private:
    using Rows = std::vector<RowClass<Dense>>;

    void split_by_valuation();
    bool split_by_successors();
    void colour();
    void index_classes();
    std::uint64_t rank_classes(std::uint32_t relation);
    Bits colours_of(Bits worlds) const;

    void merge_rows(std::uint32_t relation, Rows& merged);
    void write(Bytes& out);

    const Model<Dense>* model_ = nullptr;
    Bits all_;
    Blocks blocks_;
    bool in_order_ = false;                // every world is a block, in the order of the model
    std::vector<World> colour_;            // block of each world
    Bits open_;                            // worlds in blocks of several worlds
    std::vector<std::uint32_t> class_of_;  // relations x worlds: class of each world
    std::vector<Bits> class_colours_;
    std::vector<std::uint32_t> ranked_;    // classes of one relation
    std::vector<std::uint64_t> rank_;      // per class
    Rows images_;                          // the classes of one relation, worlds replaced by blocks
    DistinctRelations<Rows> distinct_;
};

template <>
class Contraction<Sparse> {
public:
    // As above; a quotient of at most 64 worlds is packed as `Dense`.
    void pack(const Model<Sparse>& model, Bytes& out);

private:
    // The rows with each world among their successors.
    struct Entering {
        std::vector<std::uint32_t> first, row;
    };

    // Distinct sets of colours, ranked by the ascending sequences of their members.
    class Images {
    public:
        void clear();
        // Adds the image of some worlds under a colouring, and returns the number of the set.
        std::uint32_t add(ListView worlds, std::span<const World> colour);
        std::size_t size() const { return numbers_.size(); }
        ListView operator[](std::uint32_t number) const {
            return {colours_.data() + first_[number], colours_.data() + first_[number + 1]};
        }
        // The rank of each set.
        std::span<const std::uint32_t> ranks();

    private:
        List colours_, found_;
        std::vector<std::uint32_t> first_{0}, order_, rank_;
        HashTable numbers_;
        std::vector<std::uint64_t> last_use_;  // per colour: the last call of add() that found it
        std::uint64_t uses_ = 0;               // calls of add()
    };

    void split_by_valuation();
    void refine();
    void colour();
    void split_by_successors();
    void split();
    void touch();
    void touch(World world);
    void number_blocks();
    void find_quotient();
    void write(Bytes& out);
    Truth write_truth(const WideBits& truth, Bytes& out);
    void merge(const Relation& relation, Relation& merged);
    void merge_introspective(const Relation& relation, Relation& merged);
    WideBits image(const WideBits& worlds) const;

    const Model<Sparse>* model_ = nullptr;
    WideBits all_;
    Blocks blocks_;
    bool in_order_ = false;                // every world is a block, in the order of the model
    std::vector<World> colour_;            // of each world
    std::vector<World> block_of_;          // of each world
    std::vector<World> end_;               // per place: end of the block that begins there
    List moved_;                           // worlds whose colour changed in the last round
    List open_;                            // worlds to compare in this round, with one representative per block
    struct Rest {
        World begin, end, representative;  // places of a block; the world that stands for the others
    };
    std::vector<Rest> rests_;              // blocks that are compared in part
    std::vector<std::uint32_t> touched_;   // per world: the last round before which a successor moved
    std::vector<std::vector<std::uint32_t>> touched_rows_;  // per relation and row
    std::uint32_t round_ = 0;
    std::vector<Entering> entering_;       // per relation that is no equivalence
    Images images_;
    std::vector<std::uint32_t> image_of_;  // per row of one relation
    DistinctRelations<Relation> distinct_;
    std::vector<World> first_;             // per row of one relation: its first block of successors
    std::vector<std::uint32_t> number_;    // per such block: the row of the quotient
    Model<Dense> quotient_;                // over the blocks, if they are few
    Contraction<Dense> dense_;
};

}  // namespace epi

// Contraction to the coarsest bisimulation and canonical numbering, in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"

namespace epi {

// Writes models in canonical form: two models whose worlds are all reachable from their designated
// worlds are bisimilar iff their packed forms are equal byte by byte.
//
// Colours are ranks. The first colour of a world is the rank of its valuation, compared fluent by fluent
// in declared order, false before true. A round ranks the worlds by (colour, for each agent the ascending
// sequence of the successors' colours); rounds repeat until no colour class splits.
template <class P>
class Contraction {
public:
    // Appends the packed form of the model's coarsest bisimulation.
    void pack(const Model<P>& model, Bytes& out);

private:
    void split_by_valuation();
    bool split_by_successors();
    void split();
    void colour();
    void index_classes();
    void rank_classes(std::uint32_t agent);
    typename P::Row colours_of(const typename P::Row& successors);

    void write_bits(Bytes& out);
    void write_lists(Bytes& out);
    void merge_rows(std::uint32_t agent);
    World blocks() const { return static_cast<World>(first_.size()) - 1; }

    const Model<P>* model_ = nullptr;
    std::vector<World> order_;             // worlds, block by block
    std::vector<World> first_;             // where each block starts, then the number of worlds
    std::vector<World> next_first_;
    std::vector<World> colour_;            // block of each world
    std::vector<std::uint64_t> key_;       // of each world, for the next split
    std::vector<std::uint32_t> class_of_;  // agents x worlds: class of each world
    std::vector<typename P::Row> class_colours_;
    std::vector<std::uint32_t> ranked_;    // classes of one agent
    std::vector<std::uint64_t> rank_;      // per class
    std::vector<typename P::Row> rows_;    // of the quotient under one agent, in order of first member
    std::vector<std::uint32_t> row_of_;    // world of the quotient -> row
};

extern template class Contraction<Dense<1>>;
extern template class Contraction<Dense<2>>;
extern template class Contraction<Dense<4>>;
extern template class Contraction<Dense<8>>;
extern template class Contraction<Sparse>;

}  // namespace epi

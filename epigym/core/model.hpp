// Kripke models with relations as rows (successor classes), and their packed form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "numbers.hpp"
#include "worlds.hpp"

namespace epi {

// A row: the worlds `members` share one set of successors under an agent's relation.
template <class P>
struct RowClass {
    typename P::Row members;
    typename P::Row successors;

    bool operator==(const RowClass&) const = default;
};

// The parts that models of all sizes have in common. Agents with equal relations share one relation; each world belongs
// to exactly one row of each relation.
template <class P>
struct Labels {
    World worlds = 0;
    std::vector<typename P::Set> valuation;  // per fluent the worlds where it is true
    std::vector<std::uint32_t> relation_of;  // per agent
    typename P::Set designated;

    std::uint32_t agents() const { return static_cast<std::uint32_t>(relation_of.size()); }
};

template <class P>
struct Model;

template <>
struct Model<Dense> : Labels<Dense> {
    std::vector<RowClass<Dense>> classes;    // of all relations
    std::vector<std::uint32_t> class_first;  // relations + 1 offsets into classes

    std::uint32_t relations() const { return static_cast<std::uint32_t>(class_first.size()) - 1; }
    std::span<const RowClass<Dense>> relation(std::uint32_t r) const {
        return {classes.data() + class_first[r], classes.data() + class_first[r + 1]};
    }
    std::span<const RowClass<Dense>> rows(std::uint32_t agent) const { return relation(relation_of[agent]); }
    void clear_relations() {
        classes.clear();
        class_first.assign(1, 0);
    }
    void close_relation() { class_first.push_back(static_cast<std::uint32_t>(classes.size())); }
};

// A relation as the number of each world's row. If it is transitive and Euclidean (introspective beliefs: S5, KD45,
// K45), the successors of a row are its reflexive members, and one bit per world stores them. Other relations store
// successors as lists in one array.
class Relation {
public:
    std::vector<std::uint32_t> row_of;           // per world; rows of e-states are in the order of their first members
    std::uint32_t count = 0;                     // rows; only rows of a product may have no members
    bool is_introspective = false;
    WideBits reflexive;                          // if it is introspective: worlds that are successors of their own row
    std::vector<std::uint32_t> successor_first;  // count + 1, unless it is introspective
    List successor;                              // ascending within a row

    class Iterator {
    public:
        using value_type = RowClass<Sparse>;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        Iterator(const Relation* relation, std::uint32_t row) : relation_(relation), row_(row) {}
        value_type operator*() const { return {relation_->members(row_), relation_->successors(row_)}; }
        Iterator& operator++() {
            ++row_;
            return *this;
        }
        Iterator operator++(int) {
            const Iterator before = *this;
            ++row_;
            return before;
        }
        bool operator==(const Iterator& other) const { return row_ == other.row_; }

    private:
        const Relation* relation_ = nullptr;
        std::uint32_t row_ = 0;
    };

    bool operator==(const Relation& other) const {
        if (is_introspective != other.is_introspective || row_of != other.row_of) return false;
        return is_introspective ? reflexive == other.reflexive
                                : successor_first == other.successor_first && successor == other.successor;
    }
    // Removes all rows, but keeps the memory.
    void clear();
    // The worlds, as a word of a set, whose row is marked with 1 rather than 0.
    std::uint64_t select_marked(const std::uint8_t* marks, std::size_t word) const {
        const std::size_t low = 64 * word, count = std::min<std::size_t>(64, row_of.size() - low);
        std::uint64_t worlds = 0;
        std::size_t k = 0;
        for (; k + 8 <= count; k += 8) {  // shifts by constants are cheaper
            std::uint64_t eight = 0;
            for (std::size_t i = 0; i < 8; ++i) eight |= std::uint64_t{marks[row_of[low + k + i]]} << i;
            worlds |= eight << k;
        }
        for (; k < count; ++k) worlds |= std::uint64_t{marks[row_of[low + k]]} << k;
        return worlds;
    }
    // Replaces lists by bits if the successors of every row are among its members.
    void simplify();
    // Lists the members of each row, reflexive ones first; does so once. members(), and successors() of an
    // introspective relation, require it.
    void index() const;

    std::size_t size() const { return count; }
    ListView members(std::uint32_t row) const {
        return {member_.data() + member_first_[row], member_.data() + member_first_[row + 1]};
    }
    ListView successors(std::uint32_t row) const {
        if (is_introspective) return {member_.data() + member_first_[row], member_.data() + reflexive_end_[row]};
        return {successor.data() + successor_first[row], successor.data() + successor_first[row + 1]};
    }
    Iterator begin() const {
        index();
        return {this, 0};
    }
    Iterator end() const { return {this, count}; }

private:
    mutable bool is_indexed_ = false;
    mutable std::vector<std::uint32_t> member_first_, reflexive_end_;
    mutable List member_;
};

template <>
struct Model<Sparse> : Labels<Sparse> {
    std::uint32_t relations() const { return count_; }
    const Relation& relation(std::uint32_t r) const {
        if (packed_ != nullptr && !is_read_[r]) read(r);
        return relations_[r];
    }
    const Relation& rows(std::uint32_t agent) const { return relation(relation_of[agent]); }
    void clear_relations() {
        count_ = 0;
        packed_ = nullptr;
    }
    // Adds an empty relation, to be filled.
    Relation& add_relation() {
        if (count_ == relations_.size()) relations_.emplace_back();
        relations_[count_].clear();
        return relations_[count_++];
    }
    // Reads all but the relations, which are read at their first use: the bytes must outlive the model's use.
    void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents);

private:
    void read(std::uint32_t r) const;

    mutable std::vector<Relation> relations_;  // unused ones keep their memory
    std::uint32_t count_ = 0;
    const std::uint8_t* packed_ = nullptr;  // the packed relations; null: add_relation() made them
    mutable std::vector<std::uint8_t> is_read_;
};

// A model as plain lists, as exchanged with Python. Row r of agent i, for r in [row_first[i], row_first[i + 1]), has
// the successors successor[successor_first[r] .. successor_first[r + 1]).
struct PlainModel {
    World worlds = 0;
    std::vector<List> valuation;               // per fluent the worlds where it is true, ascending
    std::vector<std::uint32_t> row_of;         // agents x worlds: row of each world, numbered from 0 per agent
    std::vector<std::uint32_t> row_first;      // agents + 1
    std::vector<std::uint32_t> successor_first;
    List successor;                            // ascending within a row
    List designated;                           // ascending
};

// The number of worlds of a packed model.
World count_worlds(const std::uint8_t* bytes);

// Reads a packed (canonical) model; P must be the policy for its number of worlds, or Sparse.
template <class P>
void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<P>& model);

// The code of a packed truth set of a large model.
enum class Truth : std::uint8_t { Nowhere, Everywhere, Listed };

// The code of the packed successors of rows of a large model: all members, the reflexive members, or lists.
enum class Successors : std::uint32_t { Members, Reflexive, Listed };

// The header of a packed relation of a large model; `at` is the offset of its numbers in bytes from the first header.
struct RelationHeader {
    std::uint32_t rows;
    Successors successors;
    std::uint64_t at;
};

// Restricts a plain model to the worlds reachable from its designated ones.
Model<Sparse> restrict_to_reachable(const PlainModel& plain);

template <class P>
PlainModel to_plain(const Model<P>& model);

}  // namespace epi

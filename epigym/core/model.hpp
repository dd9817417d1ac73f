// Kripke models in row classes, and their packed form.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "worlds.hpp"

namespace epi {

using Bytes = std::vector<std::uint8_t>;

// The worlds `members` share one set of successors under some agent's relation.
template <class P>
struct RowClass {
    typename P::Row members;
    typename P::Row successors;
    bool operator==(const RowClass&) const = default;
};

// A model with designated worlds. Agents with equal relations share one; each world belongs to exactly one
// row class of each relation.
template <class P>
struct Model {
    World worlds = 0;
    std::vector<typename P::Set> valuation;       // per fluent the worlds where it is true
    std::vector<std::uint32_t> relation_of;       // per agent
    std::vector<RowClass<P>> classes;             // of all relations; spare ones at the end keep their memory
    std::vector<std::uint32_t> class_first;       // relations + 1 offsets into classes
    std::uint32_t class_count = 0;                // without the spare ones
    typename P::Set designated;

    std::uint32_t agents() const { return static_cast<std::uint32_t>(relation_of.size()); }
    std::uint32_t relations() const { return static_cast<std::uint32_t>(class_first.size()) - 1; }
    std::span<const RowClass<P>> relation(std::uint32_t r) const {
        return {classes.data() + class_first[r], classes.data() + class_first[r + 1]};
    }
    std::span<const RowClass<P>> rows(std::uint32_t agent) const { return relation(relation_of[agent]); }
    void clear_relations() {
        class_count = 0;
        class_first.assign(1, 0);
    }
    RowClass<P>& add_class() {  // to the relation that the next close_relation() closes
        if (class_count == classes.size()) classes.emplace_back();
        auto& row = classes[class_count++];
        clear(row.members);
        clear(row.successors);
        return row;
    }
    void close_relation() { class_first.push_back(class_count); }
};

// A model as plain lists, the form in which it comes from and goes to Python. Row r of agent i, for
// r in [row_first[i], row_first[i + 1]), has the successors successor[successor_first[r] .. successor_first[r + 1]).
struct PlainModel {
    World worlds = 0;
    std::vector<List> valuation;               // per fluent the worlds where it is true, ascending
    std::vector<std::uint32_t> row_of;         // agents x worlds: row of each world, numbered from 0 per agent
    std::vector<std::uint32_t> row_first;      // agents + 1
    std::vector<std::uint32_t> successor_first;
    List successor;                            // ascending within a row
    List designated;                           // ascending
};

// Calls action.template operator()<Number>() with the narrowest type that numbers `count` rows.
template <class Action>
void with_row_number(std::size_t count, Action&& action) {
    if (count <= 0x100) action.template operator()<std::uint8_t>();
    else if (count <= 0x10000) action.template operator()<std::uint16_t>();
    else action.template operator()<std::uint32_t>();
}

// The number of worlds of a packed model.
World packed_worlds(const std::uint8_t* bytes);

// Reads a packed (canonical) model; P must be the policy for its number of worlds.
template <class P>
void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<P>& model);

// Restricts a plain model to the worlds reachable from its designated ones.
Model<Sparse> reachable_part(const PlainModel& plain);

template <class P>
PlainModel to_plain(const Model<P>& model);

// Writes fields of up to 64 bits one after the other, least significant bit first.
class BitWriter {
public:
    explicit BitWriter(Bytes& out) : out_(out) {}

    void put(std::uint64_t value, unsigned bits) {
        buffer_ |= value << used_;
        if (used_ + bits < 64) {
            used_ += bits;
            return;
        }
        flush(8);
        const unsigned taken = 64 - used_;
        buffer_ = taken < 64 ? value >> taken : 0;
        used_ = used_ + bits - 64;
    }
    template <int W>
    void put(const Bits<W>& set, World n) {
        for (World low = 0; low < n; low += 64) put(set.words[low / 64], std::min<unsigned>(64, n - low));
    }
    void finish() { flush((used_ + 7) / 8); }

private:
    void flush(unsigned bytes) {
        const auto at = out_.size();
        out_.resize(at + bytes);
        std::memcpy(out_.data() + at, &buffer_, bytes);
    }

    Bytes& out_;
    std::uint64_t buffer_ = 0;
    unsigned used_ = 0;
};

}  // namespace epi

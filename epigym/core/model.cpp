#include "model.hpp"

#include <bit>
#include <cstring>

namespace epi {

namespace {

class BitReader {
public:
    explicit BitReader(const std::uint8_t* bytes) : bytes_(bytes) {}

    // Reads up to 64 bits; up to 9 bytes past the field are touched.
    std::uint64_t get(unsigned bits) {
        const std::uint8_t* at = bytes_ + (position_ >> 3);
        const unsigned shift = position_ & 7;
        std::uint64_t value;
        std::memcpy(&value, at, 8);
        value >>= shift;
        if (shift + bits > 64) value |= std::uint64_t{at[8]} << (64 - shift);
        position_ += bits;
        return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
    }

    template <int W>
    void get(Bits<W>& set, World n) {
        for (int i = 0; i < W; ++i) {
            const World low = 64 * static_cast<World>(i);
            set.words[i] = n > low ? get(std::min<unsigned>(64, n - low)) : 0;
        }
    }

private:
    const std::uint8_t* bytes_;
    std::size_t position_ = 0;
};

class WordReader {
public:
    explicit WordReader(const std::uint8_t* bytes) : bytes_(bytes) {}

    std::uint32_t get() {
        std::uint32_t value;
        std::memcpy(&value, bytes_, 4);
        bytes_ += 4;
        return value;
    }
    void get(List& list) {
        list.resize(get());
        std::memcpy(list.data(), bytes_, 4 * list.size());
        bytes_ += 4 * list.size();
    }
    void get(WideBits& set) {
        std::memcpy(set.words.data(), bytes_, 8 * set.words.size());
        bytes_ += 8 * set.words.size();
    }
    template <class Number>
    void get_members(std::span<RowClass<Sparse>> rows, World n) {
        for (World w = 0; w < n; ++w, bytes_ += sizeof(Number)) {
            Number row;
            std::memcpy(&row, bytes_, sizeof row);
            rows[row].members.push_back(w);
        }
    }

private:
    const std::uint8_t* bytes_;
};

template <class P>
void unpack_bits(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<P>& model) {
    const World n = model.worlds;
    BitReader in(bytes);
    in.get(model.designated, n);
    for (std::uint32_t f = 0; f < fluents; ++f) in.get(model.valuation[f], n);
    const auto agent_bits = static_cast<unsigned>(std::bit_width(agents));
    const auto relations = in.get(agent_bits);
    for (auto& relation : model.relation_of) relation = static_cast<std::uint32_t>(in.get(agent_bits));
    for (std::uint64_t r = 0; r < relations; ++r) {
        const auto count = in.get(static_cast<unsigned>(std::bit_width(n)));
        for (std::uint64_t c = 0; c < count; ++c) {
            auto& row = model.add_class();
            in.get(row.members, n);
            in.get(row.successors, n);
        }
        model.close_relation();
    }
}

void unpack_lists(const std::uint8_t* bytes, std::uint32_t fluents, Model<Sparse>& model) {
    const World n = model.worlds;
    WordReader in(bytes);
    List designated;
    in.get(designated);
    Sparse::clear(model.designated, n);
    unite(model.designated, designated);
    for (std::uint32_t f = 0; f < fluents; ++f) {
        Sparse::clear(model.valuation[f], n);
        in.get(model.valuation[f]);
    }
    const auto relations = in.get();
    for (auto& relation : model.relation_of) relation = in.get();
    for (std::uint32_t r = 0; r < relations; ++r) {
        const auto count = in.get();
        const bool is_equivalence = in.get() != 0;
        for (std::uint32_t c = 0; c < count; ++c) model.add_class();
        const std::span rows(model.classes.data() + model.class_first.back(), count);
        with_row_number(count, [&]<class Number>() { in.get_members<Number>(rows, n); });
        for (auto& row : rows) {
            if (is_equivalence) row.successors = row.members;
            else in.get(row.successors);
        }
        model.close_relation();
    }
}

}  // namespace

World packed_worlds(const std::uint8_t* bytes) {
    World n;
    std::memcpy(&n, bytes, sizeof n);
    return n;
}

template <class P>
void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<P>& model) {
    model.worlds = packed_worlds(bytes);
    model.valuation.resize(fluents);
    model.clear_relations();
    model.relation_of.resize(agents);
    if constexpr (P::dense) unpack_bits(bytes + sizeof(World), fluents, agents, model);
    else unpack_lists(bytes + sizeof(World), fluents, model);
}

Model<Sparse> reachable_part(const PlainModel& plain) {
    const auto agents = static_cast<std::uint32_t>(plain.row_first.size()) - 1;
    const auto row = [&](std::uint32_t agent, World w) {
        return plain.row_first[agent] + plain.row_of[agent * plain.worlds + w];
    };
    const auto successors = [&](std::uint32_t r) {
        return std::span(plain.successor).subspan(plain.successor_first[r],
                                                  plain.successor_first[r + 1] - plain.successor_first[r]);
    };

    std::vector<bool> row_seen(plain.successor_first.size(), false);
    constexpr World unseen = ~World{0};
    std::vector<World> number(plain.worlds, unseen);
    List queue = plain.designated;
    for (World w : queue) number[w] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
        for (std::uint32_t i = 0; i < agents; ++i) {
            const auto r = row(i, queue[at]);
            if (row_seen[r]) continue;
            row_seen[r] = true;
            for (World v : successors(r)) {
                if (number[v] != unseen) continue;
                number[v] = 0;
                queue.push_back(v);
            }
        }
    }
    World n = 0;
    for (World& w : number)
        if (w != unseen) w = n++;

    Model<Sparse> model;
    model.worlds = n;
    Sparse::clear(model.designated, n);
    for (World w : plain.designated) model.designated.set(number[w]);
    for (const List& truth : plain.valuation) {
        auto& set = model.valuation.emplace_back();
        Sparse::clear(set, n);
        for (World w : truth)
            if (number[w] != unseen) set.set(number[w]);
    }
    model.clear_relations();
    for (std::uint32_t i = 0; i < agents; ++i) {
        std::vector<List> members(plain.row_first[i + 1] - plain.row_first[i]);
        for (World w = 0; w < plain.worlds; ++w)
            if (number[w] != unseen) members[plain.row_of[i * plain.worlds + w]].push_back(number[w]);
        for (std::uint32_t r = 0; r < members.size(); ++r) {
            if (members[r].empty()) continue;
            auto& target = model.add_class();
            target.members = std::move(members[r]);
            for (World v : successors(plain.row_first[i] + r)) target.successors.push_back(number[v]);
        }
        model.relation_of.push_back(i);
        model.close_relation();
    }
    return model;
}

template <class P>
PlainModel to_plain(const Model<P>& model) {
    const auto list = [](const auto& set) {
        List worlds;
        each(set, [&](World w) { worlds.push_back(w); });
        return worlds;
    };
    PlainModel plain;
    plain.worlds = model.worlds;
    for (const auto& truth : model.valuation) plain.valuation.push_back(list(truth));
    plain.designated = list(model.designated);
    plain.row_of.resize(std::size_t{model.agents()} * model.worlds);
    plain.row_first.push_back(0);
    plain.successor_first.push_back(0);
    for (std::uint32_t i = 0; i < model.agents(); ++i) {
        std::uint32_t r = 0;
        for (const auto& row : model.rows(i)) {
            each(row.members, [&](World w) { plain.row_of[std::size_t{i} * model.worlds + w] = r; });
            each(row.successors, [&](World w) { plain.successor.push_back(w); });
            plain.successor_first.push_back(static_cast<std::uint32_t>(plain.successor.size()));
            ++r;
        }
        plain.row_first.push_back(plain.row_first.back() + r);
    }
    return plain;
}

#define EPI_INSTANTIATE(P)                                                                             \
    template void unpack<P>(const std::uint8_t*, std::uint32_t, std::uint32_t, Model<P>&);             \
    template PlainModel to_plain<P>(const Model<P>&);
EPI_INSTANTIATE(Dense<1>)
EPI_INSTANTIATE(Dense<2>)
EPI_INSTANTIATE(Dense<4>)
EPI_INSTANTIATE(Dense<8>)
EPI_INSTANTIATE(Sparse)
#undef EPI_INSTANTIATE

}  // namespace epi

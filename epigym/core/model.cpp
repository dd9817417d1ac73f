#include "model.hpp"

#include <bit>
#include <cstring>
#include <numeric>

namespace epi {

namespace {

template <class T>
T take(const std::uint8_t*& bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    bytes += sizeof value;
    return value;
}

void take(const std::uint8_t*& bytes, WideBits& set) {
    std::memcpy(set.words.data(), bytes, 8 * set.words.size());
    bytes += 8 * set.words.size();
}

std::vector<std::uint32_t> starts(std::span<const std::uint32_t> numbers, std::size_t count) {
    std::vector<std::uint32_t> first(count + 1, 0);
    for (auto number : numbers) ++first[number + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

}  // namespace

void Relation::clear() {
    row_of.clear();
    count = 0;
    is_introspective = false;
    successor_first.assign(1, 0);
    successor.clear();
    is_indexed_ = false;
}

void Relation::simplify() {
    if (successor.size() > row_of.size()) return;
    for (std::uint32_t row = 0; row < count; ++row)
        for (World w : successors(row))
            if (row_of[w] != row) return;
    Sparse::clear(reflexive, static_cast<World>(row_of.size()));
    unite(reflexive, successor);
    is_introspective = true;
    successor.clear();
    successor_first.clear();
}

void Relation::index() const {
    if (is_indexed_) return;
    is_indexed_ = true;
    member_first_ = starts(row_of, count);
    member_.resize(row_of.size());
    const auto place = [&](World w) { member_[member_first_[row_of[w]]++] = w; };
    if (is_introspective) {
        each(reflexive, place);
        reflexive_end_.assign(member_first_.begin(), member_first_.end() - 1);
        WideBits others;
        Sparse::fill(others, static_cast<World>(row_of.size()));
        each(others.subtract(reflexive), place);
    } else {
        for (World w = 0; w < row_of.size(); ++w) place(w);
    }
    std::shift_right(member_first_.begin(), member_first_.end(), 1);  // place() has moved each start to the next one
    member_first_[0] = 0;
}

World count_worlds(const std::uint8_t* bytes) {
    World n;
    std::memcpy(&n, bytes, sizeof n);
    return n;
}

template <>
void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<Dense>& model) {
    const World n = model.worlds = count_worlds(bytes);
    BitReader in(bytes + sizeof(World));
    model.designated.word = in.get(n);
    model.valuation.resize(fluents);
    in.get_each(model.valuation, n, [](Bits& truth, std::uint64_t word) { truth.word = word; });
    const auto agent_bits = static_cast<unsigned>(std::bit_width(agents)), count_bits = static_cast<unsigned>(std::bit_width(n));
    const auto relations = in.get(agent_bits);
    model.relation_of.resize(agents);
    for (auto& relation : model.relation_of) relation = static_cast<std::uint32_t>(in.get(agent_bits));
    model.clear_relations();
    for (std::uint64_t r = 0; r < relations; ++r) {
        for (auto count = in.get(count_bits); count > 0; --count) {
            const Bits members{in.get(n)}, successors{in.get(n)};
            model.classes.push_back({members, successors});
        }
        model.close_relation();
    }
}

namespace {

// Converts a model to the representation for large models.
void widen(const Model<Dense>& model, Model<Sparse>& wide) {
    const auto copy = [&](Bits from, WideBits& to) { to.words.assign(1, from.word); };
    wide.worlds = model.worlds;
    copy(model.designated, wide.designated);
    wide.valuation.resize(model.valuation.size());
    for (std::size_t f = 0; f < model.valuation.size(); ++f) copy(model.valuation[f], wide.valuation[f]);
    wide.relation_of = model.relation_of;
    wide.clear_relations();
    for (std::uint32_t r = 0; r < model.relations(); ++r) {
        auto& target = wide.add_relation();
        target.row_of.resize(model.worlds);
        for (const auto& row : model.relation(r)) {
            each(row.members, [&](World w) { target.row_of[w] = target.count; });
            each(row.successors, [&](World w) { target.successor.push_back(w); });
            target.successor_first.push_back(static_cast<std::uint32_t>(target.successor.size()));
            ++target.count;
        }
        target.simplify();
    }
}

}  // namespace

void Model<Sparse>::unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents) {
    const World n = worlds = take<World>(bytes);
    relation_of.resize(agents);
    for (auto& relation : relation_of) relation = take<std::uint16_t>(bytes);
    count_ = take<std::uint16_t>(bytes);
    const std::uint8_t* const codes = bytes;
    bytes += fluents;
    Sparse::clear(designated, n);
    take(bytes, designated);
    valuation.resize(fluents);
    for (std::uint32_t f = 0; f < fluents; ++f) {
        const auto code = static_cast<Truth>(codes[f]);
        if (code == Truth::Everywhere) Sparse::fill(valuation[f], n);
        else Sparse::clear(valuation[f], n);
        if (code == Truth::Listed) take(bytes, valuation[f]);
    }
    packed_ = bytes;
    is_read_.assign(count_, 0);
    if (relations_.size() < count_) relations_.resize(count_);
}

void Model<Sparse>::read(std::uint32_t r) const {
    const std::uint8_t* at = packed_ + sizeof(RelationHeader) * r;
    const auto header = take<RelationHeader>(at);
    Relation& relation = relations_[r];
    relation.clear();
    relation.count = header.rows;
    relation.is_introspective = header.successors != Successors::Listed;
    relation.row_of.resize(worlds);
    BitReader in(packed_ + header.at);
    in.get(relation.row_of, static_cast<unsigned>(std::bit_width(header.rows - 1)));
    is_read_[r] = 1;
    if (relation.is_introspective) {
        Sparse::fill(relation.reflexive, worlds);
        if (header.successors == Successors::Members) return;
        for (World low = 0; low < worlds; low += 64)
            relation.reflexive.words[low / 64] = in.get(std::min<unsigned>(64, worlds - low));
        return;
    }
    const auto count_bits = static_cast<unsigned>(std::bit_width(worlds));
    const auto world_bits = static_cast<unsigned>(std::bit_width(worlds - 1));
    for (std::uint32_t row = 0; row < header.rows; ++row) {
        if (in.get(1) != 0) {
            for (World low = 0; low < worlds; low += 64)
                each_bit(in.get(std::min<unsigned>(64, worlds - low)), low, [&](World w) { relation.successor.push_back(w); });
        } else {
            const auto first = relation.successor.size();
            relation.successor.resize(first + in.get(count_bits));
            in.get(std::span(relation.successor).subspan(first), world_bits);
        }
        relation.successor_first.push_back(static_cast<std::uint32_t>(relation.successor.size()));
    }
}

template <>
void unpack(const std::uint8_t* bytes, std::uint32_t fluents, std::uint32_t agents, Model<Sparse>& model) {
    if (count_worlds(bytes) > Dense::capacity) {
        model.unpack(bytes, fluents, agents);
        return;
    }
    Model<Dense> small;
    unpack(bytes, fluents, agents, small);
    widen(small, model);
}

Model<Sparse> restrict_to_reachable(const PlainModel& plain) {
    const auto agents = static_cast<std::uint32_t>(plain.row_first.size()) - 1;
    const auto row = [&](std::uint32_t agent, World w) {
        return plain.row_first[agent] + plain.row_of[std::size_t{agent} * plain.worlds + w];
    };
    const auto successors = [&](std::uint32_t r) {
        return std::span(plain.successor).subspan(plain.successor_first[r],
                                                  plain.successor_first[r + 1] - plain.successor_first[r]);
    };

    std::vector<bool> row_reached(plain.successor_first.size(), false);
    constexpr World unreached = ~World{0};
    std::vector<World> number(plain.worlds, unreached);
    List queue = plain.designated;
    for (World w : queue) number[w] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
        for (std::uint32_t i = 0; i < agents; ++i) {
            const auto r = row(i, queue[at]);
            if (row_reached[r]) continue;
            row_reached[r] = true;
            for (World v : successors(r)) {
                if (number[v] != unreached) continue;
                number[v] = 0;
                queue.push_back(v);
            }
        }
    }
    World n = 0;
    for (World& w : number)
        if (w != unreached) w = n++;

    Model<Sparse> model;
    model.worlds = n;
    Sparse::clear(model.designated, n);
    for (World w : plain.designated) model.designated.set(number[w]);
    for (const List& truth : plain.valuation) {
        auto& set = model.valuation.emplace_back();
        Sparse::clear(set, n);
        for (World w : truth)
            if (number[w] != unreached) set.set(number[w]);
    }
    std::vector<std::uint32_t> row_number;
    for (std::uint32_t i = 0; i < agents; ++i) {
        auto& target = model.add_relation();
        row_number.assign(plain.row_first[i + 1] - plain.row_first[i], unreached);
        for (World w = 0; w < plain.worlds; ++w) {
            if (number[w] == unreached) continue;
            auto& known = row_number[plain.row_of[std::size_t{i} * plain.worlds + w]];
            if (known == unreached) {
                known = target.count++;
                for (World v : successors(row(i, w))) target.successor.push_back(number[v]);
                target.successor_first.push_back(static_cast<std::uint32_t>(target.successor.size()));
            }
            target.row_of.push_back(known);
        }
        target.simplify();
        model.relation_of.push_back(i);
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

template PlainModel to_plain<Dense>(const Model<Dense>&);
template PlainModel to_plain<Sparse>(const Model<Sparse>&);

}  // namespace epi

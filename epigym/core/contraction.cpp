#include "contraction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace epi {

namespace {

constexpr std::size_t kMaxWords = kMaxDense / 64;

struct Field {
    std::array<std::uint64_t, kMaxWords> words{};
    void set(World w) { words[w >> 6] |= std::uint64_t{1} << (w & 63); }
};

void put(BitWriter& out, const Field& field, World n) {
    for (World low = 0; low < n; low += 64) out.put(field.words[low / 64], std::min<unsigned>(64, n - low));
}

void append(Bytes& out, std::uint32_t value) {
    const auto at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

void append(Bytes& out, const List& list) {
    append(out, static_cast<std::uint32_t>(list.size()));
    const auto at = out.size();
    out.resize(at + 4 * list.size());
    std::memcpy(out.data() + at, list.data(), 4 * list.size());
}

}  // namespace

template <class P>
void Contraction<P>::pack(const Model<P>& model, Bytes& out) {
    model_ = &model;
    const World n = model.worlds;
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), World{0});
    first_.assign({0, n});
    key_.resize(n);
    colour_.resize(n);
    split_by_valuation();
    index_classes();
    do colour();
    while (blocks() < n && split_by_successors());

    const World size = blocks();
    append(out, size);
    if (size <= kMaxDense) write_bits(out);
    else write_lists(out);
}

template <class P>
void Contraction<P>::split_by_valuation() {
    const World n = model_->worlds;
    unsigned used = 0;
    std::fill(key_.begin(), key_.end(), 0);
    for (const auto& truth : model_->valuation) {
        const World count = truth.count();
        if (count == 0 || count == n) continue;
        if (used == 64) {
            split();
            std::fill(key_.begin(), key_.end(), 0);
            used = 0;
        }
        const std::uint64_t bit = std::uint64_t{1} << (63 - used++);
        each(truth, [&](World w) { key_[w] |= bit; });
    }
    if (used > 0) split();
}

// Divides every block by the keys of its worlds, in ascending order.
template <class P>
void Contraction<P>::split() {
    next_first_.clear();
    for (std::size_t b = 0; b + 1 < first_.size(); ++b) {
        const World begin = first_[b], end = first_[b + 1];
        next_first_.push_back(begin);
        if (end - begin == 1) continue;
        const auto by_key = [&](World a, World c) { return key_[a] < key_[c]; };
        if (end - begin <= 24) {
            for (World i = begin + 1; i < end; ++i) {
                const World moved = order_[i];
                World at = i;
                for (; at > begin && by_key(moved, order_[at - 1]); --at) order_[at] = order_[at - 1];
                order_[at] = moved;
            }
        } else {
            std::sort(order_.begin() + begin, order_.begin() + end, by_key);
        }
        for (World i = begin + 1; i < end; ++i)
            if (key_[order_[i]] != key_[order_[i - 1]]) next_first_.push_back(i);
    }
    next_first_.push_back(model_->worlds);
    first_.swap(next_first_);
}

template <class P>
void Contraction<P>::colour() {
    for (World b = 0; b < blocks(); ++b)
        for (World i = first_[b]; i < first_[b + 1]; ++i) colour_[order_[i]] = b;
}

template <class P>
void Contraction<P>::index_classes() {
    const World n = model_->worlds;
    class_of_.resize(std::size_t{n} * model_->agents());
    rank_.resize(model_->classes.size());
    class_colours_.resize(model_->classes.size());
    for (std::uint32_t i = 0; i < model_->agents(); ++i)
        for (std::uint32_t c = model_->class_first[i]; c < model_->class_first[i + 1]; ++c)
            each(model_->classes[c].members, [&](World w) { class_of_[std::size_t{i} * n + w] = c; });
}

template <class P>
typename P::Row Contraction<P>::colours_of(const typename P::Row& successors) {
    typename P::Row colours{};
    if constexpr (P::dense) {
        each(successors, [&](World w) { colours.set(colour_[w]); });
    } else {
        colours.reserve(successors.size());
        each(successors, [&](World w) { colours.push_back(colour_[w]); });
        std::sort(colours.begin(), colours.end());
        colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
    }
    return colours;
}

// Ranks the classes of an agent by their successors' colours; equal sequences get equal ranks.
template <class P>
void Contraction<P>::rank_classes(std::uint32_t agent) {
    const std::uint32_t begin = model_->class_first[agent], end = model_->class_first[agent + 1];
    for (auto c = begin; c < end; ++c) class_colours_[c] = colours_of(model_->classes[c].successors);
    ranked_.resize(end - begin);
    std::iota(ranked_.begin(), ranked_.end(), begin);
    std::sort(ranked_.begin(), ranked_.end(),
              [&](auto a, auto b) { return precedes(class_colours_[a], class_colours_[b]); });
    std::uint64_t rank = 0;
    for (std::size_t k = 0; k < ranked_.size(); ++k) {
        if (k > 0 && class_colours_[ranked_[k]] != class_colours_[ranked_[k - 1]]) ++rank;
        rank_[ranked_[k]] = rank;
    }
}

template <class P>
bool Contraction<P>::split_by_successors() {
    const World n = model_->worlds, before = blocks();
    unsigned used = 0;
    std::fill(key_.begin(), key_.end(), 0);
    for (std::uint32_t i = 0; i < model_->agents(); ++i) {
        const auto count = model_->class_first[i + 1] - model_->class_first[i];
        if (count < 2) continue;
        rank_classes(i);
        const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
        if (used + bits > 64) {
            split();
            std::fill(key_.begin(), key_.end(), 0);
            used = 0;
        }
        used += bits;
        const std::uint32_t* class_of = class_of_.data() + std::size_t{i} * n;
        for (World w = 0; w < n; ++w) key_[w] |= rank_[class_of[w]] << (64 - used);
    }
    if (used > 0) split();
    return blocks() > before;
}

// The distinct rows of the quotient under one agent, numbered by their first member.
template <class P>
void Contraction<P>::merge_rows(std::uint32_t agent) {
    constexpr auto none = ~std::uint64_t{0};
    const World n = model_->worlds;
    const std::uint32_t begin = model_->class_first[agent], end = model_->class_first[agent + 1];
    std::fill(rank_.begin() + begin, rank_.begin() + end, none);
    ranked_.clear();  // classes in use, in order of first member
    rows_.clear();
    row_of_.resize(blocks());
    for (World b = 0; b < blocks(); ++b) {
        const auto c = class_of_[std::size_t{agent} * n + order_[first_[b]]];
        if (rank_[c] == none) {
            rank_[c] = ranked_.size();
            ranked_.push_back(c);
            rows_.push_back(colours_of(model_->classes[c].successors));
        }
        row_of_[b] = static_cast<std::uint32_t>(rank_[c]);
    }
    // Classes that differed only by worlds now merged have become equal: keep the first of each.
    const auto count = rows_.size();
    std::vector<std::uint32_t> sorted(count), image(count);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) {
        return precedes(rows_[a], rows_[b]) || (!precedes(rows_[b], rows_[a]) && a < b);
    });
    bool merged = false;
    for (std::size_t k = 0; k < count; ++k) {
        const bool same = k > 0 && rows_[sorted[k]] == rows_[sorted[k - 1]];
        image[sorted[k]] = same ? image[sorted[k - 1]] : sorted[k];
        merged |= same;
    }
    if (!merged) return;
    std::vector<std::uint32_t> number(count);
    std::size_t kept = 0;
    for (std::uint32_t r = 0; r < count; ++r) {
        number[r] = image[r] == r ? static_cast<std::uint32_t>(kept) : number[image[r]];
        if (image[r] != r) continue;
        if (kept != r) rows_[kept] = std::move(rows_[r]);
        ++kept;
    }
    rows_.resize(kept);
    for (auto& r : row_of_) r = number[r];
}

// Up to kMaxDense worlds: bit fields of one bit per world.
template <class P>
void Contraction<P>::write_bits(Bytes& out) {
    const World n = blocks();
    BitWriter writer(out);
    const auto image = [&](const auto& set) {
        Field field;
        for (World b = 0; b < n; ++b)
            if (set.test(order_[first_[b]])) field.set(b);
        return field;
    };
    Field all;
    for (World b = 0; b < n; ++b) all.set(b);
    Field designated;
    each(model_->designated, [&](World w) { designated.set(colour_[w]); });
    put(writer, designated, n);
    for (const auto& truth : model_->valuation) {
        const World count = truth.count();
        put(writer, count == 0 ? Field{} : count == model_->worlds ? all : image(truth), n);
    }
    for (std::uint32_t i = 0; i < model_->agents(); ++i) {
        merge_rows(i);
        writer.put(rows_.size(), static_cast<unsigned>(std::bit_width(n)));
        std::vector<Field> members(rows_.size());
        for (World b = 0; b < n; ++b) members[row_of_[b]].set(b);
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            Field successors;
            each(rows_[r], [&](World b) { successors.set(b); });
            put(writer, members[r], n);
            put(writer, successors, n);
        }
    }
    writer.finish();
}

// More worlds: 32-bit numbers; truth sets as bit vectors, rows as lists.
template <class P>
void Contraction<P>::write_lists(Bytes& out) {
    const World n = blocks();
    List designated;
    each(model_->designated, [&](World w) { designated.push_back(colour_[w]); });
    std::sort(designated.begin(), designated.end());
    designated.erase(std::unique(designated.begin(), designated.end()), designated.end());
    append(out, designated);
    std::vector<std::uint64_t> words((n + 63) / 64);
    for (const auto& truth : model_->valuation) {
        std::fill(words.begin(), words.end(), 0);
        for (World b = 0; b < n; ++b)
            if (truth.test(order_[first_[b]])) words[b >> 6] |= std::uint64_t{1} << (b & 63);
        const auto at = out.size();
        out.resize(at + 8 * words.size());
        std::memcpy(out.data() + at, words.data(), 8 * words.size());
    }
    for (std::uint32_t i = 0; i < model_->agents(); ++i) {
        merge_rows(i);
        append(out, static_cast<std::uint32_t>(rows_.size()));
        for (World b = 0; b < n; ++b) append(out, row_of_[b]);
        for (const auto& row : rows_) {
            List list;
            each(row, [&](World b) { list.push_back(b); });
            append(out, list);
        }
    }
}

template class Contraction<Dense<1>>;
template class Contraction<Dense<2>>;
template class Contraction<Dense<4>>;
template class Contraction<Dense<8>>;
template class Contraction<Sparse>;

}  // namespace epi

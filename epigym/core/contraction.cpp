#include "contraction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

namespace epi {

namespace {

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

// Appends the number of each world's row.
template <class Number, class Relation>
void append_members(Bytes& out, const Relation& rows, World n) {
    const auto at = out.size();
    out.resize(at + sizeof(Number) * n);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto number = static_cast<Number>(r);
        each(rows[r].members, [&](World w) { std::memcpy(out.data() + at + sizeof number * w, &number, sizeof number); });
    }
}

// Sorts what is often sorted already: many updates keep the order of the worlds.
template <class Values, class Less>
void sort(Values& values, Less&& less) {
    if (!std::is_sorted(values.begin(), values.end(), less)) std::sort(values.begin(), values.end(), less);
}

}  // namespace

template <class P>
void Contraction<P>::pack(const Model<P>& model, Bytes& out) {
    model_ = &model;
    const World n = model.worlds;
    P::fill(all_, n);
    order_.resize(n);
    for (World w = 0; w < n; ++w) order_[w].world = w;
    first_.assign({0, n});
    key_.resize(n);
    colour_.resize(n);
    if (n > 1) split_by_valuation();
    colour();
    if (blocks() < n) index_classes();
    while (blocks() < n && split_by_successors()) colour();

    append(out, blocks());
    if (blocks() <= kMaxDense) write_bits(out);
    else write_lists(out);
}

template <class P>
void Contraction<P>::start_keys() {
    std::fill(key_.begin(), key_.end(), 0);
    key_bits_ = 0;
}

template <class P>
void Contraction<P>::split_by_valuation() {
    start_keys();
    for (const auto& truth : model_->valuation) {
        if (!truth.any() || truth == all_) continue;
        if (key_bits_ == 64) {
            split();
            start_keys();
        }
        const std::uint64_t bit = std::uint64_t{1} << (63 - key_bits_++);
        each(truth, [&](World w) { key_[w] |= bit; });
    }
    if (key_bits_ > 0) split();
}

// Divides every block by the keys of its worlds, in ascending order.
template <class P>
void Contraction<P>::split() {
    next_first_.clear();
    for (std::size_t b = 0; b + 1 < first_.size(); ++b) {
        const World begin = first_[b], end = first_[b + 1];
        next_first_.push_back(begin);
        if (end - begin == 1) continue;
        for (World i = begin; i < end; ++i) order_[i].key = key_[order_[i].world];
        if (end - begin <= 24) {
            for (World i = begin + 1; i < end; ++i) {
                const Entry moved = order_[i];
                World at = i;
                for (; at > begin && moved.key < order_[at - 1].key; --at) order_[at] = order_[at - 1];
                order_[at] = moved;
            }
        } else {
            std::sort(order_.begin() + begin, order_.begin() + end,
                      [](const Entry& a, const Entry& c) { return a.key < c.key; });
        }
        for (World i = begin + 1; i < end; ++i)
            if (order_[i].key != order_[i - 1].key) next_first_.push_back(i);
    }
    next_first_.push_back(model_->worlds);
    first_.swap(next_first_);
}

template <class P>
void Contraction<P>::colour() {
    P::clear(open_, model_->worlds);
    for (World b = 0; b < blocks(); ++b) {
        const World begin = first_[b], end = first_[b + 1];
        for (World i = begin; i < end; ++i) {
            colour_[order_[i].world] = b;
            if (end - begin > 1) open_.set(order_[i].world);
        }
    }
}

template <class P>
void Contraction<P>::index_classes() {
    const World n = model_->worlds;
    class_of_.resize(std::size_t{n} * model_->relations());
    rank_.resize(model_->class_count);
    if (class_colours_.size() < model_->class_count) class_colours_.resize(model_->class_count);
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        std::uint32_t* class_of = class_of_.data() + std::size_t{r} * n;
        for (auto c = model_->class_first[r]; c < model_->class_first[r + 1]; ++c)
            each(model_->classes[c].members, [&](World w) { class_of[w] = c; });
    }
}

template <class P>
template <class Worlds>
void Contraction<P>::colours_of(const Worlds& worlds, typename P::Row& colours) const {
    if constexpr (P::dense) {
        colours = {};
        each(worlds, [&](World w) { colours.set(colour_[w]); });
    } else {
        colours.clear();
        each(worlds, [&](World w) { colours.push_back(colour_[w]); });
        sort(colours, std::less<>());
        colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
    }
}

// Ranks the classes of a relation that have open worlds by their successors' colours; equal colours get
// equal ranks. Returns the largest rank.
template <class P>
std::uint64_t Contraction<P>::rank_classes(std::uint32_t relation) {
    ranked_.clear();
    for (auto c = model_->class_first[relation]; c < model_->class_first[relation + 1]; ++c) {
        rank_[c] = 0;
        if (!intersects(model_->classes[c].members, open_)) continue;
        ranked_.push_back(c);
        colours_of(model_->classes[c].successors, class_colours_[c]);
    }
    std::sort(ranked_.begin(), ranked_.end(),
              [&](auto a, auto b) { return precedes(class_colours_[a], class_colours_[b]); });
    std::uint64_t rank = 0;
    for (std::size_t k = 1; k < ranked_.size(); ++k) {
        rank += class_colours_[ranked_[k]] != class_colours_[ranked_[k - 1]];
        rank_[ranked_[k]] = rank;
    }
    return rank;
}

template <class P>
bool Contraction<P>::split_by_successors() {
    const World n = model_->worlds, before = blocks();
    start_keys();
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        const auto bits = static_cast<unsigned>(std::bit_width(rank_classes(r)));
        if (bits == 0) continue;
        if (key_bits_ + bits > 64) {
            split();
            start_keys();
        }
        key_bits_ += bits;
        const std::uint32_t* class_of = class_of_.data() + std::size_t{r} * n;
        each(open_, [&](World w) { key_[w] |= rank_[class_of[w]] << (64 - key_bits_); });
    }
    if (key_bits_ > 0) split();
    return blocks() > before;
}

// Classes whose successors have merged become one row; rows are ordered by their first member.
template <class P>
void Contraction<P>::merge_rows(std::uint32_t relation, Relation& merged) {
    constexpr std::size_t few = 16;  // up to here looking at all rows beats sorting
    const auto classes = model_->relation(relation);
    images_.resize(classes.size());
    for (std::size_t c = 0; c < classes.size(); ++c) {
        colours_of(classes[c].members, images_[c].members);
        if (classes[c].members == classes[c].successors) images_[c].successors = images_[c].members;
        else colours_of(classes[c].successors, images_[c].successors);
    }
    const bool sorted = images_.size() > few;
    if (sorted) sort(images_, [](const auto& a, const auto& b) { return precedes(a.successors, b.successors); });
    std::size_t kept = 0;  // images_ from here on keep their memory only
    for (std::size_t c = 0; c < images_.size(); ++c) {
        const auto end = images_.begin() + static_cast<std::ptrdiff_t>(kept);
        const auto same = std::find_if(sorted && kept > 0 ? end - 1 : images_.begin(), end,
                                       [&](const auto& row) { return row.successors == images_[c].successors; });
        if (same != end) merge(same->members, images_[c].members);
        else if (kept++ != c) std::swap(*end, images_[c]);
    }
    images_.resize(kept);
    sort(images_, [](const auto& a, const auto& b) { return lowest(a.members) < lowest(b.members); });
    merged.swap(images_);
}

// Fills the distinct relations over the blocks, in order of first use by an agent, and returns their number.
template <class P>
std::size_t Contraction<P>::merge_relations() {
    constexpr auto none = ~std::uint32_t{0};
    merged_of_.assign(model_->relations(), none);
    std::size_t count = 0;
    for (auto r : model_->relation_of) {
        if (merged_of_[r] != none) continue;
        if (merged_.size() == count) merged_.emplace_back();
        merge_rows(r, merged_[count]);
        const auto last = merged_.begin() + static_cast<std::ptrdiff_t>(count);
        const auto found = std::find(merged_.begin(), last, *last);
        merged_of_[r] = static_cast<std::uint32_t>(found - merged_.begin());
        if (found == last) ++count;
    }
    return count;
}

// Up to kMaxDense worlds: bit fields of one bit per world.
template <class P>
void Contraction<P>::write_bits(Bytes& out) {
    const World n = blocks();
    BitWriter writer(out);
    const auto put = [&](const typename P::Row& row) {
        if constexpr (P::dense) {
            writer.put(row, n);
        } else {
            Bits<kMaxDense / 64> field;
            each(row, [&](World b) { field.set(b); });
            writer.put(field, n);
        }
    };
    typename P::Row image, none{}, every;
    colours_of(model_->designated, image);
    put(image);
    colours_of(all_, every);
    for (const auto& truth : model_->valuation) {
        if (!truth.any()) {
            put(none);
        } else if (truth == all_) {
            put(every);
        } else {
            colours_of(truth, image);
            put(image);
        }
    }
    const auto agent_bits = static_cast<unsigned>(std::bit_width(model_->agents()));
    const auto count = merge_relations();
    writer.put(count, agent_bits);
    for (auto r : model_->relation_of) writer.put(merged_of_[r], agent_bits);
    for (std::size_t k = 0; k < count; ++k) {
        writer.put(merged_[k].size(), static_cast<unsigned>(std::bit_width(n)));
        for (const auto& [members, successors] : merged_[k]) {
            put(members);
            put(successors);
        }
    }
    writer.finish();
}

// More worlds, which only sparse models have: truth sets as bit vectors; of a relation the number of rows, whether
// every row's successors are its members, each world's row and, unless they are the members, the successors.
template <class P>
void Contraction<P>::write_lists(Bytes& out) {
    if constexpr (!P::dense) {
        const World n = blocks();
        List image;
        colours_of(model_->designated, image);
        append(out, image);
        WideBits field;
        for (const auto& truth : model_->valuation) {
            P::clear(field, n);
            each(truth, [&](World w) { field.set(colour_[w]); });
            const auto at = out.size();
            out.resize(at + 8 * field.words.size());
            std::memcpy(out.data() + at, field.words.data(), 8 * field.words.size());
        }
        const auto count = merge_relations();
        append(out, static_cast<std::uint32_t>(count));
        for (auto r : model_->relation_of) append(out, merged_of_[r]);
        for (std::size_t k = 0; k < count; ++k) {
            const Relation& rows = merged_[k];
            const bool is_equivalence = std::ranges::all_of(
                rows, [](const auto& row) { return row.members == row.successors; });
            append(out, static_cast<std::uint32_t>(rows.size()));
            append(out, is_equivalence);
            with_row_number(rows.size(), [&]<class Number>() { append_members<Number>(out, rows, n); });
            if (is_equivalence) continue;
            for (const auto& row : rows) append(out, row.successors);
        }
    }
}

template class Contraction<Dense<1>>;
template class Contraction<Dense<2>>;
template class Contraction<Dense<4>>;
template class Contraction<Dense<8>>;
template class Contraction<Sparse>;

}  // namespace epi

#include "contraction.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace epi {

void Blocks::reset(World n) {
    order_.resize(n);
    for (World w = 0; w < n; ++w) order_[w].world = w;
    first_.assign({0, n});
    key.assign(n, 0);
    key_bits_ = 0;
}

void Blocks::split() {
    constexpr World few = 24;
    next_first_.clear();
    for (std::size_t b = 0; b + 1 < first_.size(); ++b) {
        const World begin = first_[b], end = first_[b + 1];
        next_first_.push_back(begin);
        if (end - begin == 1) continue;
        for (World i = begin; i < end; ++i) order_[i].key = key[order_[i].world];
        if (end - begin <= few) {
            for (World i = begin + 1; i < end; ++i) {
                const Entry moved = order_[i];
                World at = i;
                for (; at > begin && moved.key < order_[at - 1].key; --at) order_[at] = order_[at - 1];
                order_[at] = moved;
            }
        } else {
            sort(begin, end);
        }
        for (World i = begin + 1; i < end; ++i)
            if (order_[i].key != order_[i - 1].key) next_first_.push_back(i);
    }
    next_first_.push_back(first_.back());
    first_.swap(next_first_);
    std::fill(key.begin(), key.end(), 0);
    key_bits_ = 0;
}

// Merges ascending runs: many updates keep the order of the worlds within each event.
void Blocks::sort(World begin, World end) {
    const auto less = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    const auto entry = [](std::vector<Entry>& entries, World place) { return entries.begin() + place; };
    runs_.assign(1, begin);
    for (World i = begin + 1; i < end; ++i)
        if (less(order_[i], order_[i - 1])) runs_.push_back(i);
    if (runs_.size() > (end - begin) / 8) {
        std::sort(entry(order_, begin), entry(order_, end), less);
        return;
    }
    merged_.resize(order_.size());
    while (runs_.size() > 1) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < runs_.size(); k += 2) {
            const World first = runs_[k], middle = k + 1 < runs_.size() ? runs_[k + 1] : end;
            const World last = k + 2 < runs_.size() ? runs_[k + 2] : end;
            std::merge(entry(order_, first), entry(order_, middle), entry(order_, middle), entry(order_, last),
                       entry(merged_, first), less);
            runs_[kept++] = first;
        }
        runs_.resize(kept);
        std::copy(entry(merged_, begin), entry(merged_, end), entry(order_, begin));
    }
}

namespace {

World lowest(Bits set) { return static_cast<World>(std::countr_zero(set.word)); }

// Whether the ascending sequence of the members of a precedes that of b in lexicographic order.
bool precedes(Bits a, Bits b) {
    const std::uint64_t difference = a.word ^ b.word;
    if (difference == 0) return false;
    const std::uint64_t first = difference & -difference;
    const bool in_a = (a.word & first) != 0;  // then a precedes b, unless the sequence of b ends here
    const bool has_more = ((in_a ? b : a).word & ~(first | (first - 1))) != 0;
    return in_a == has_more;
}

// Sorts unless the values are sorted: many updates keep the order of the worlds.
template <class Values, class Less>
void sort(Values& values, Less&& less) {
    if (!std::is_sorted(values.begin(), values.end(), less)) std::sort(values.begin(), values.end(), less);
}

}  // namespace

void Contraction<Dense>::pack(const Model<Dense>& model, Bytes& out) {
    model_ = &model;
    Dense::fill(all_, model.worlds);
    blocks_.reset(model.worlds);
    colour_.resize(model.worlds);
    if (model.worlds > 1) split_by_valuation();
    colour();
    if (!blocks_.is_discrete()) index_classes();
    while (!blocks_.is_discrete() && split_by_successors()) colour();
    append(out, blocks_.count());
    write(out);
}

void Contraction<Dense>::split_by_valuation() {
    bool is_pending = false;
    for (const auto& truth : model_->valuation) {
        if (!truth.any() || truth == all_) continue;
        if (!blocks_.has_room(1)) blocks_.split();
        const std::uint64_t bit = std::uint64_t{1} << blocks_.reserve(1);
        each(truth, [&](World w) { blocks_.key[w] |= bit; });
        is_pending = true;
    }
    if (is_pending) blocks_.split();
}

void Contraction<Dense>::colour() {
    open_ = {};
    in_order_ = true;
    for (World b = 0; b < blocks_.count(); ++b) {
        const World begin = blocks_.first(b), end = blocks_.first(b + 1);
        for (World i = begin; i < end; ++i) {
            colour_[blocks_.at(i)] = b;
            in_order_ = in_order_ && blocks_.at(i) == b;
            if (end - begin > 1) open_.set(blocks_.at(i));
        }
    }
}

void Contraction<Dense>::index_classes() {
    const World n = model_->worlds;
    const auto count = static_cast<std::uint32_t>(model_->classes.size());
    class_of_.resize(std::size_t{n} * model_->relations());
    rank_.resize(count);
    if (class_colours_.size() < count) class_colours_.resize(count);
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        std::uint32_t* class_of = class_of_.data() + std::size_t{r} * n;
        for (auto c = model_->class_first[r]; c < model_->class_first[r + 1]; ++c)
            each(model_->classes[c].members, [&](World w) { class_of[w] = c; });
    }
}

Bits Contraction<Dense>::colours_of(Bits worlds) const {
    if (in_order_) return worlds;
    Bits colours;
    each(worlds, [&](World w) { colours.set(colour_[w]); });
    return colours;
}

// Ranks the classes of a relation with open worlds by their successors' colours and returns the largest rank; classes
// with equal colours have equal ranks.
std::uint64_t Contraction<Dense>::rank_classes(std::uint32_t relation) {
    ranked_.clear();
    for (auto c = model_->class_first[relation]; c < model_->class_first[relation + 1]; ++c) {
        rank_[c] = 0;
        if (!intersects(model_->classes[c].members, open_)) continue;
        ranked_.push_back(c);
        class_colours_[c] = colours_of(model_->classes[c].successors);
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

bool Contraction<Dense>::split_by_successors() {
    const World n = model_->worlds, before = blocks_.count();
    bool is_pending = false;
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        const auto bits = static_cast<unsigned>(std::bit_width(rank_classes(r)));
        if (bits == 0) continue;
        if (!blocks_.has_room(bits)) blocks_.split();
        const unsigned shift = blocks_.reserve(bits);
        const std::uint32_t* class_of = class_of_.data() + std::size_t{r} * n;
        each(open_, [&](World w) { blocks_.key[w] |= rank_[class_of[w]] << shift; });
        is_pending = true;
    }
    if (is_pending) blocks_.split();
    return blocks_.count() > before;
}

// Merges classes with equal images of their successors to one row; rows are ordered by their first member.
void Contraction<Dense>::merge_rows(std::uint32_t relation, Rows& merged) {
    constexpr std::size_t few = 16;  // for so many rows linear search is faster than sorting
    images_.clear();
    for (const auto& row : model_->relation(relation)) {
        const Bits members = colours_of(row.members);
        images_.push_back({members, row.members == row.successors ? members : colours_of(row.successors)});
    }
    const bool sorted = images_.size() > few;
    if (sorted) sort(images_, [](const auto& a, const auto& b) { return precedes(a.successors, b.successors); });
    std::size_t kept = 0;
    for (const auto& image : images_) {
        const auto end = images_.begin() + static_cast<std::ptrdiff_t>(kept);
        const auto same = std::find_if(sorted && kept > 0 ? end - 1 : images_.begin(), end,
                                       [&](const auto& row) { return row.successors == image.successors; });
        if (same != end) {
            same->members |= image.members;
        } else {
            *end = image;
            ++kept;
        }
    }
    images_.resize(kept);
    sort(images_, [](const auto& a, const auto& b) { return lowest(a.members) < lowest(b.members); });
    merged.swap(images_);
}

// Sets are bit fields of one bit per world.
void Contraction<Dense>::write(Bytes& out) {
    const World n = blocks_.count();
    BitWriter writer(out);
    writer.put(colours_of(model_->designated).word, n);
    const Bits every = colours_of(all_);
    writer.put_each(model_->valuation, n, [&](Bits truth) { return (truth == all_ ? every : colours_of(truth)).word; });
    const auto agent_bits = static_cast<unsigned>(std::bit_width(model_->agents()));
    distinct_.fill(*model_, [&](std::uint32_t r, Rows& merged) { merge_rows(r, merged); });
    writer.put(distinct_.size(), agent_bits);
    for (auto r : model_->relation_of) writer.put(distinct_.number(r), agent_bits);
    for (std::size_t k = 0; k < distinct_.size(); ++k) {
        writer.put(distinct_[k].size(), static_cast<unsigned>(std::bit_width(n)));
        for (const auto& [members, successors] : distinct_[k]) {
            writer.put(members.word, n);
            writer.put(successors.word, n);
        }
    }
    writer.finish();
}

}  // namespace epi

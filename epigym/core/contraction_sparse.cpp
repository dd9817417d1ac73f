// The contraction of models of any size, in flat arrays.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "contraction.hpp"
#include "hashing.hpp"
#include "none.hpp"

namespace epi {

namespace {

void append_words(Bytes& out, const WideBits& set) {
    const auto at = out.size();
    out.resize(at + 8 * set.words.size());
    std::memcpy(out.data() + at, set.words.data(), 8 * set.words.size());
}

// Bit c of row r becomes bit r of row c (Hacker's Delight, section 7-3).
void transpose(std::array<std::uint64_t, 64>& rows) {
    std::uint64_t mask = 0x00000000FFFFFFFF;
    for (unsigned j = 32; j != 0; j /= 2, mask ^= mask << j) {
        for (unsigned k = 0; k < 64; k = ((k | j) + 1) & ~j) {
            const std::uint64_t swapped = ((rows[k] >> j) ^ rows[k | j]) & mask;
            rows[k] ^= swapped << j;
            rows[k | j] ^= swapped;
        }
    }
}

void write(const Relation& relation, Successors successors, World n, Bytes& out) {
    BitWriter writer(out);
    const auto row_bits = static_cast<unsigned>(std::bit_width(relation.count - 1));
    writer.put_each(relation.row_of, row_bits);
    const auto put = [&](const WideBits& set) {
        for (World low = 0; low < n; low += 64) writer.put(set.words[low / 64], std::min<unsigned>(64, n - low));
    };
    if (successors == Successors::Reflexive) put(relation.reflexive);
    const auto count_bits = static_cast<unsigned>(std::bit_width(n)), world_bits = static_cast<unsigned>(std::bit_width(n - 1));
    WideBits field;
    for (std::uint32_t row = 0; successors == Successors::Listed && row < relation.count; ++row) {
        const ListView list = relation.successors(row);
        const bool is_field = std::size_t{world_bits} * list.size() + count_bits > n;
        writer.put(is_field, 1);
        if (is_field) {
            Sparse::clear(field, n);
            unite(field, list);
            put(field);
        } else {
            writer.put(list.size(), count_bits);
            writer.put_each(list, world_bits);
        }
    }
    writer.finish();
}

}  // namespace

void Contraction<Sparse>::Images::clear() {
    colours_.clear();
    first_.assign(1, 0);
    numbers_.clear();
}

std::uint32_t Contraction<Sparse>::Images::add(ListView worlds, std::span<const World> colour) {
    if (last_use_.size() < colour.size()) last_use_.resize(colour.size(), uses_);
    ++uses_;
    found_.clear();
    std::uint64_t hash = 0;
    for (World w : worlds) {
        if (last_use_[colour[w]] == uses_) continue;
        last_use_[colour[w]] = uses_;
        found_.push_back(colour[w]);
        hash += mix(colour[w] + kGolden);
    }
    const auto is_found = [&](std::uint32_t known) {
        const ListView other = (*this)[known];
        return other.size() == found_.size() && std::ranges::all_of(other, [&](World c) { return last_use_[c] == uses_; });
    };
    return numbers_.insert(hash, is_found, [&] {
        if (!std::ranges::is_sorted(found_)) std::ranges::sort(found_);
        colours_.insert(colours_.end(), found_.begin(), found_.end());
        first_.push_back(static_cast<std::uint32_t>(colours_.size()));
    }).first;
}

std::span<const std::uint32_t> Contraction<Sparse>::Images::ranks() {
    order_.resize(size());
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::sort(order_, [&](auto a, auto b) { return std::ranges::lexicographical_compare((*this)[a], (*this)[b]); });
    rank_.resize(size());
    for (std::uint32_t k = 0; k < size(); ++k) rank_[order_[k]] = k;
    return rank_;
}

void Contraction<Sparse>::pack(const Model<Sparse>& model, Bytes& out) {
    model_ = &model;
    Sparse::fill(all_, model.worlds);
    blocks_.reset(model.worlds);
    split_by_valuation();
    if (!blocks_.is_discrete()) refine();
    number_blocks();
    if (blocks_.count() > Dense::capacity) {
        write(out);
    } else {
        find_quotient();
        dense_.pack(quotient_, out);
    }
}

void Contraction<Sparse>::split_by_valuation() {
    std::vector<const WideBits*> splitting;  // truth sets that distinguish worlds
    for (const auto& truth : model_->valuation)
        if (truth.any() && truth != all_) splitting.push_back(&truth);
    for (std::size_t first = 0; first < splitting.size() && !blocks_.is_discrete(); first += 64) {
        const std::size_t count = std::min<std::size_t>(64, splitting.size() - first);
        for (std::size_t i = 0; i < all_.words.size(); ++i) {
            std::array<std::uint64_t, 64> rows{};
            for (std::size_t k = 0; k < count; ++k) rows[63 - k] = splitting[first + k]->words[i];
            transpose(rows);
            const auto low = 64 * i;
            std::copy_n(rows.begin(), std::min<std::size_t>(64, model_->worlds - low), blocks_.key.begin() + static_cast<std::ptrdiff_t>(low));
        }
        blocks_.split();
    }
}

// Repeats rounds until no block splits. All worlds of a block had successors of equal colours in the round before.
// Worlds without a successor that changed its colour still do, and one of them represents the others.
void Contraction<Sparse>::refine() {
    const World n = model_->worlds;
    for (std::uint32_t r = 0; r < model_->relations(); ++r)
        if (model_->relation(r).is_introspective) model_->relation(r).index();
    colour_.assign(n, kNone);
    end_.resize(n);
    touched_.assign(n, 0);
    touched_rows_.resize(std::max<std::size_t>(touched_rows_.size(), model_->relations()));
    entering_.clear();
    round_ = 0;
    colour();
    open_.clear();
    rests_.clear();
    for (World w = 0; w < n; ++w)
        if (end_[colour_[w]] - colour_[w] > 1) open_.push_back(w);
    while (!open_.empty()) {
        const World before = blocks_.count();
        split_by_successors();
        if (blocks_.count() == before || blocks_.is_discrete()) break;
        colour();
        touch();
    }
}

void Contraction<Sparse>::colour() {
    moved_.clear();
    for (World b = 0; b < blocks_.count(); ++b) {
        const World begin = blocks_.first(b), end = blocks_.first(b + 1);
        end_[begin] = end;
        if (colour_[blocks_.at(begin)] == begin) continue;
        for (World i = begin; i < end; ++i) {
            colour_[blocks_.at(i)] = begin;
            moved_.push_back(blocks_.at(i));
        }
    }
}

void Contraction<Sparse>::split_by_successors() {
    bool is_pending = false;
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        const Relation& relation = model_->relation(r);
        images_.clear();
        image_of_.assign(relation.count, kNone);
        for (World w : open_) {
            auto& image = image_of_[relation.row_of[w]];
            if (image == kNone) image = images_.add(relation.successors(relation.row_of[w]), colour_);
        }
        if (images_.size() < 2) continue;
        const auto ranks = images_.ranks();
        const auto bits = static_cast<unsigned>(std::bit_width(images_.size() - 1));
        if (!blocks_.has_room(bits)) split();
        const unsigned shift = blocks_.reserve(bits);
        for (World w : open_) blocks_.key[w] |= std::uint64_t{ranks[image_of_[relation.row_of[w]]]} << shift;
        is_pending = true;
    }
    if (is_pending) split();
}

void Contraction<Sparse>::split() {
    for (const auto& [begin, end, representative] : rests_)
        for (World i = begin; i < end; ++i)
            if (const World w = blocks_.at(i); touched_[w] != round_) blocks_.key[w] = blocks_.key[representative];
    blocks_.split();
}

// Finds the worlds to compare in the next round.
void Contraction<Sparse>::touch() {
    ++round_;
    open_.clear();
    rests_.clear();
    for (World w : moved_) touch(w);
    const std::size_t touched = open_.size();
    for (std::size_t k = 0; k < touched; ++k) {
        const World begin = colour_[open_[k]];
        World& end = end_[begin];
        if (end == 0) continue;  // the block is done
        for (World i = begin; i < end; ++i) {
            if (touched_[blocks_.at(i)] == round_) continue;
            rests_.push_back({begin, end, blocks_.at(i)});
            open_.push_back(blocks_.at(i));
            break;
        }
        end = 0;
    }
}

// Touches the worlds that have this one as a successor.
void Contraction<Sparse>::touch(World world) {
    if (entering_.empty()) {
        entering_.resize(model_->relations());
        for (std::uint32_t r = 0; r < model_->relations(); ++r) {
            const Relation& relation = model_->relation(r);
            touched_rows_[r].assign(relation.count, 0);
            if (relation.is_introspective) continue;
            relation.index();
            auto& [first, row] = entering_[r];
            first.assign(model_->worlds + 1, 0);
            for (World w : relation.successor) ++first[w + 1];
            std::partial_sum(first.begin(), first.end(), first.begin());
            row.resize(relation.successor.size());
            for (std::uint32_t k = 0; k < relation.count; ++k)
                for (World w : relation.successors(k)) row[first[w]++] = k;
            std::shift_right(first.begin(), first.end(), 1);
            first[0] = 0;
        }
    }
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        const Relation& relation = model_->relation(r);
        const auto enter = [&](std::uint32_t row) {
            if (touched_rows_[r][row] == round_) return;
            touched_rows_[r][row] = round_;
            for (World w : relation.members(row)) {
                if (touched_[w] == round_ || end_[colour_[w]] - colour_[w] == 1) continue;
                touched_[w] = round_;
                open_.push_back(w);
            }
        };
        if (relation.is_introspective) {
            if (relation.reflexive.test(world)) enter(relation.row_of[world]);
            continue;
        }
        const auto& [first, row] = entering_[r];
        for (auto k = first[world]; k < first[world + 1]; ++k) enter(row[k]);
    }
}

void Contraction<Sparse>::number_blocks() {
    block_of_.resize(model_->worlds);
    in_order_ = blocks_.is_discrete();
    for (World b = 0; b < blocks_.count(); ++b) {
        for (World i = blocks_.first(b); i < blocks_.first(b + 1); ++i) {
            block_of_[blocks_.at(i)] = b;
            in_order_ = in_order_ && blocks_.at(i) == b;
        }
    }
}

void Contraction<Sparse>::find_quotient() {
    const auto blocks_of = [&](const auto& worlds) {
        Bits blocks;
        each(worlds, [&](World w) { blocks.set(block_of_[w]); });
        return blocks;
    };
    quotient_.worlds = blocks_.count();
    quotient_.designated = blocks_of(model_->designated);
    quotient_.valuation.clear();
    for (const auto& truth : model_->valuation) quotient_.valuation.push_back(blocks_of(truth));
    quotient_.relation_of = model_->relation_of;
    quotient_.clear_relations();
    for (std::uint32_t r = 0; r < model_->relations(); ++r) {
        for (const auto& row : model_->relation(r))
            if (!row.members.empty()) quotient_.classes.push_back({blocks_of(row.members), blocks_of(row.successors)});
        quotient_.close_relation();
    }
}

// Replaces the worlds of a relation by blocks and numbers rows in the order of their first members.
void Contraction<Sparse>::merge(const Relation& relation, Relation& merged) {
    const World n = blocks_.count();
    merged.clear();
    merged.row_of.resize(n);
    if (relation.is_introspective) {
        merge_introspective(relation, merged);
        return;
    }
    images_.clear();
    image_of_.assign(relation.count, kNone);
    for (World b = 0; b < n; ++b) {
        const auto row = relation.row_of[blocks_.representative(b)];
        if (image_of_[row] == kNone) image_of_[row] = images_.add(relation.successors(row), block_of_);
        merged.row_of[b] = image_of_[row];
    }
    merged.count = static_cast<std::uint32_t>(images_.size());
    for (std::uint32_t row = 0; row < merged.count; ++row) {
        merged.successor.insert(merged.successor.end(), images_[row].begin(), images_[row].end());
        merged.successor_first.push_back(static_cast<std::uint32_t>(merged.successor.size()));
    }
    merged.simplify();
}

// Two rows' successors have equal or disjoint images: the first block, if any, identifies the image. If every world is
// reflexive and a block of its own, the row does, too.
void Contraction<Sparse>::merge_introspective(const Relation& relation, Relation& merged) {
    const World n = blocks_.count();
    merged.is_introspective = true;
    merged.reflexive = image(relation.reflexive);
    const bool is_plain = blocks_.is_discrete() && relation.reflexive == all_;
    if (!is_plain) {
        first_.assign(relation.count, std::max(n, relation.count));
        each(relation.reflexive, [&](World w) {
            auto& first = first_[relation.row_of[w]];
            first = std::min(first, block_of_[w]);
        });
    }
    number_.assign(std::max(n, relation.count) + 1, kNone);
    for (World b = 0; b < n; ++b) {
        const std::uint32_t row = relation.row_of[in_order_ ? b : blocks_.representative(b)];
        auto& number = number_[is_plain ? row : first_[row]];
        if (number == kNone) number = merged.count++;
        merged.row_of[b] = number;
    }
}

// The blocks of some worlds.
WideBits Contraction<Sparse>::image(const WideBits& worlds) const {
    if (in_order_) return worlds;
    WideBits blocks;
    Sparse::clear(blocks, blocks_.count());
    each(worlds, [&](World w) { blocks.set(block_of_[w]); });
    return blocks;
}

Truth Contraction<Sparse>::write_truth(const WideBits& truth, Bytes& out) {
    if (!truth.any()) return Truth::Nowhere;
    if (truth == all_) return Truth::Everywhere;
    append_words(out, image(truth));
    return Truth::Listed;
}

// Writes the number of worlds, each agent's relation and the number of relations, the codes of truth sets, the
// designated worlds, the truth sets, a header per relation, and the relations.
void Contraction<Sparse>::write(Bytes& out) {
    const World n = blocks_.count();
    append(out, n);
    distinct_.fill(*model_, [&](std::uint32_t r, Relation& merged) { merge(model_->relation(r), merged); });
    const std::size_t count = distinct_.size();
    for (auto r : model_->relation_of) append(out, static_cast<std::uint16_t>(distinct_.number(r)));
    append(out, static_cast<std::uint16_t>(count));
    const auto codes = out.size();
    out.resize(codes + model_->valuation.size());
    append_words(out, image(model_->designated));
    for (std::size_t f = 0; f < model_->valuation.size(); ++f) {
        const Truth code = write_truth(model_->valuation[f], out);
        out[codes + f] = static_cast<std::uint8_t>(code);
    }
    const auto headers = out.size();
    out.resize(headers + sizeof(RelationHeader) * count);
    for (std::size_t k = 0; k < count; ++k) {
        const Relation& relation = distinct_[k];
        const auto successors = !relation.is_introspective ? Successors::Listed
                                : relation.reflexive.count() == n ? Successors::Members
                                                             : Successors::Reflexive;
        const RelationHeader header{relation.count, successors, out.size() - headers};
        std::memcpy(out.data() + headers + sizeof header * k, &header, sizeof header);
        epi::write(relation, successors, n, out);
    }
}

}  // namespace epi

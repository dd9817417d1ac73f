// Bit fields in bytes, one after the other, least significant bit first. Reading may touch up to 9 bytes past the last
// one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace epi {

using Bytes = std::vector<std::uint8_t>;

// Appends the bytes of a number.
template <class T>
void append(Bytes& out, T value) {
    const auto at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

// Writes fields of up to 64 bits.
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
    // Writes many fields: the numbers that `read` makes of values.
    template <class Values, class Read = std::identity>
    void put_each(const Values& values, unsigned bits, Read&& read = {}) {
        const auto at = out_.size();
        out_.resize(at + 8 * (values.size() * bits / 64 + 2));
        std::uint8_t* to = out_.data() + at;
        std::uint64_t buffer = buffer_;
        unsigned used = used_;
        for (const auto& value : values) {
            const std::uint64_t number = read(value);
            buffer |= number << used;
            used += bits;
            if (used < 64) continue;
            std::memcpy(to, &buffer, 8);
            to += 8;
            used -= 64;
            buffer = used > 0 ? number >> (bits - used) : 0;
        }
        buffer_ = buffer;
        used_ = used;
        out_.resize(static_cast<std::size_t>(to - out_.data()));
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

// Reads such fields.
class BitReader {
public:
    explicit BitReader(const std::uint8_t* bytes) : bytes_(bytes) {}

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
    // Reads many fields, several at a time; `write` receives each.
    template <class Values, class Write>
    void get_each(Values& out, unsigned bits, Write&& write) {
        const std::size_t several = 64 / std::max(bits, 1u);
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - std::max(bits, 1u));
        for (std::size_t at = 0; at < out.size(); at += several) {
            const std::size_t count = std::min(several, out.size() - at);
            std::uint64_t fields = get(static_cast<unsigned>(count) * bits);
            for (std::size_t k = at; k < at + count; ++k, fields >>= bits & 63) write(out[k], fields & mask);
        }
    }
    // Reads many fields of at most 32 bits.
    void get(std::span<std::uint32_t> out, unsigned bits) {
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        std::size_t position = position_;
        for (auto& number : out) {
            std::uint64_t value;
            std::memcpy(&value, bytes_ + (position >> 3), 8);
            number = static_cast<std::uint32_t>(value >> (position & 7) & mask);
            position += bits;
        }
        position_ = position;
    }

private:
    const std::uint8_t* bytes_;
    std::size_t position_ = 0;
};

}  // namespace epi

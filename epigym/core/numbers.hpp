// Bit fields in bytes, one after the other, least significant bit first. Reading may touch up to 9 bytes past the last
// one.
#pragma once

#include <cstdint>
#include <cstring>
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
    // Writes many fields of at most 32 bits.
    void put(std::span<const std::uint32_t> values, unsigned bits) {
        const auto at = out_.size();
        out_.resize(at + 8 * (values.size() * bits / 64 + 2));
        std::uint8_t* to = out_.data() + at;
        for (auto value : values) {
            buffer_ |= std::uint64_t{value} << used_;
            used_ += bits;
            if (used_ < 64) continue;
            std::memcpy(to, &buffer_, 8);
            to += 8;
            used_ -= 64;
            buffer_ = used_ > 0 ? std::uint64_t{value} >> (bits - used_) : 0;
        }
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

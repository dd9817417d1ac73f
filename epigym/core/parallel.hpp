// Work divided among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace epi {

// Calls work(thread, k) for each k below count, on so many threads; the caller is thread 0. Rethrows an exception.
template <class Work>
void run_parallel(std::size_t count, unsigned threads, Work&& work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> errors(threads);
    const auto run = [&](unsigned thread) {
        try {
            for (std::size_t k; (k = next++) < count;) work(thread, k);
        } catch (...) {
            errors[thread] = std::current_exception();
        }
    };
    {
        struct Pool {  // not every standard library has std::jthread
            std::vector<std::thread> threads;
            ~Pool() {
                for (auto& thread : threads) thread.join();
            }
        } pool;
        for (unsigned thread = 1; thread < threads; ++thread) pool.threads.emplace_back(run, thread);
        run(0);
    }
    for (const auto& error : errors)
        if (error) std::rethrow_exception(error);
}

// How long an item of some work takes, which decides how many threads pay: the start of each takes about 50 µs.
class Pace {
public:
    unsigned choose(std::size_t count, unsigned threads) const {
        const double most = std::min(seconds_ * static_cast<double>(count) / kShare, static_cast<double>(count));
        return std::max(1u, static_cast<unsigned>(std::min(most, static_cast<double>(threads))));
    }

    // Runs work(thread, k) for each k below count, on at most so many threads.
    template <class Work>
    void run(std::size_t count, unsigned threads, Work&& work) {
        if (count == 0) return;
        const unsigned chosen = choose(count, threads);
        const auto start = std::chrono::steady_clock::now();
        run_parallel(count, chosen, work);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        const double each = spent.count() * chosen / static_cast<double>(count);
        seconds_ = seconds_ == 0 ? each : 0.75 * seconds_ + 0.25 * each;
    }

private:
    static constexpr double kShare = 150e-6;  // of work for each thread
    double seconds_ = 0;
};

}  // namespace epi

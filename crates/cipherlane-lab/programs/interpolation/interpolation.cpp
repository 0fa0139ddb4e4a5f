// Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
// Every quotient is by a power of two, so all results are exact, whatever the compiler does.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int KNOTS = 1024;

static std::uint32_t interpolate(int queries) {
    std::uint32_t state = 1;
    std::vector<int> places(KNOTS);
    std::vector<double> heights(KNOTS);
    int place = 0;
    for (int knot = 0; knot < KNOTS; knot++) {
        state = state * 1664525u + 1013904223u;
        places[knot] = place;
        heights[knot] = state >> 16;
        place += 1 << (state >> 13 & 7);
    }
    int span = places[KNOTS - 1];
    std::uint32_t checksum = 0;
    for (int query = 0; query < queries; query++) {
        state = state * 1664525u + 1013904223u;
        int x = static_cast<int>(state >> 8) % span;
        int low = 0;
        int high = KNOTS - 1;
        while (high - low > 1) {
            int middle = (low + high) >> 1;
            if (places[middle] <= x) {
                low = middle;
            } else {
                high = middle;
            }
        }
        double part = static_cast<double>(x - places[low]) / static_cast<double>(places[high] - places[low]);
        double y = heights[low] + (heights[high] - heights[low]) * part;
        checksum = checksum * 31u + static_cast<std::uint32_t>(y * 128.0);
    }
    return checksum;
}

int main(int, char **arguments) {
    auto start = std::chrono::steady_clock::now();
    std::uint32_t result = interpolate(std::atoi(arguments[1]));
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::printf("%u %.9f\n", result, time.count());
}

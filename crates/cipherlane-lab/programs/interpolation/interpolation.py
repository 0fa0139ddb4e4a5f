# Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
# Every quotient is by a power of two, so all results are exact, whatever the compiler does.
import sys
import time

KNOTS = 1024
MASK = 0xFFFFFFFF


def interpolate(queries):
    state = 1
    places = [0] * KNOTS
    heights = [0.0] * KNOTS
    place = 0
    for knot in range(KNOTS):
        state = (state * 1664525 + 1013904223) & MASK
        places[knot] = place
        heights[knot] = float(state >> 16)
        place += 1 << (state >> 13 & 7)
    span = places[KNOTS - 1]
    checksum = 0
    for _ in range(queries):
        state = (state * 1664525 + 1013904223) & MASK
        x = (state >> 8) % span
        low, high = 0, KNOTS - 1
        while high - low > 1:
            middle = (low + high) >> 1
            if places[middle] <= x:
                low = middle
            else:
                high = middle
        part = float(x - places[low]) / float(places[high] - places[low])
        y = heights[low] + (heights[high] - heights[low]) * part
        checksum = (checksum * 31 + int(y * 128.0)) & MASK
    return checksum


start = time.perf_counter()
result = interpolate(int(sys.argv[1]))
print(result, time.perf_counter() - start)

// Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
// Every quotient is by a power of two, so all results are exact, whatever the compiler does.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

const knots = 1024

func interpolate(queries int) uint32 {
	state := uint32(1)
	places := make([]int32, knots)
	heights := make([]float64, knots)
	place := int32(0)
	for knot := 0; knot < knots; knot++ {
		state = state*1664525 + 1013904223
		places[knot] = place
		heights[knot] = float64(state >> 16)
		place += 1 << (state >> 13 & 7)
	}
	span := places[knots-1]
	checksum := uint32(0)
	for query := 0; query < queries; query++ {
		state = state*1664525 + 1013904223
		x := int32(state>>8) % span
		low, high := 0, knots-1
		for high-low > 1 {
			middle := (low + high) >> 1
			if places[middle] <= x {
				low = middle
			} else {
				high = middle
			}
		}
		part := float64(x-places[low]) / float64(places[high]-places[low])
		y := heights[low] + (heights[high]-heights[low])*part
		checksum = checksum*31 + uint32(y*128.0)
	}
	return checksum
}

func main() {
	queries, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	start := time.Now()
	result := interpolate(queries)
	fmt.Println(result, time.Since(start).Seconds())
}

// Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
// Every quotient is by a power of two, so all results are exact, whatever the compiler does.
using System;
using System.Diagnostics;
using System.Globalization;

static class Interpolation
{
    const int Knots = 1024;

    static uint Interpolate(int queries)
    {
        uint state = 1;
        int[] places = new int[Knots];
        double[] heights = new double[Knots];
        int place = 0;
        for (int knot = 0; knot < Knots; knot++)
        {
            state = unchecked(state * 1664525u + 1013904223u);
            places[knot] = place;
            heights[knot] = state >> 16;
            place += 1 << (int)(state >> 13 & 7);
        }
        int span = places[Knots - 1];
        uint checksum = 0;
        for (int query = 0; query < queries; query++)
        {
            state = unchecked(state * 1664525u + 1013904223u);
            int x = (int)(state >> 8) % span;
            int low = 0;
            int high = Knots - 1;
            while (high - low > 1)
            {
                int middle = (low + high) >> 1;
                if (places[middle] <= x) low = middle;
                else high = middle;
            }
            double part = (double)(x - places[low]) / (double)(places[high] - places[low]);
            double y = heights[low] + (heights[high] - heights[low]) * part;
            checksum = unchecked(checksum * 31u + (uint)(y * 128.0));
        }
        return checksum;
    }

    static void Main(string[] arguments)
    {
        Stopwatch watch = Stopwatch.StartNew();
        uint result = Interpolate(int.Parse(arguments[0], CultureInfo.InvariantCulture));
        double seconds = watch.Elapsed.TotalSeconds;
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1}", result, seconds));
    }
}

// Linear interpolation in a table of 1024 knots at uneven places. Prints a checksum and seconds.
// Every quotient is by a power of two, so all results are exact, whatever the compiler does.
final class Interpolation {
    private static final int KNOTS = 1024;

    static int interpolate(int queries) {
        int state = 1;
        int[] places = new int[KNOTS];
        double[] heights = new double[KNOTS];
        int place = 0;
        for (int knot = 0; knot < KNOTS; knot++) {
            state = state * 1664525 + 1013904223;
            places[knot] = place;
            heights[knot] = state >>> 16;
            place += 1 << (state >>> 13 & 7);
        }
        int span = places[KNOTS - 1];
        int checksum = 0;
        for (int query = 0; query < queries; query++) {
            state = state * 1664525 + 1013904223;
            int x = (state >>> 8) % span;
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
            double part = (double) (x - places[low]) / (double) (places[high] - places[low]);
            double y = heights[low] + (heights[high] - heights[low]) * part;
            checksum = checksum * 31 + (int) (y * 128.0);
        }
        return checksum;
    }

    public static void main(String[] arguments) {
        long start = System.nanoTime();
        int result = interpolate(Integer.parseInt(arguments[0]));
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.println(Integer.toUnsignedString(result) + " " + seconds);
    }
}

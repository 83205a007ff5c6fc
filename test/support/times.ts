/** How often property tests and journeys that kill processes play their rounds; bin/soak plays more, which find what is rare. */
export const TIMES = Number(process.env.PARLEY_TEST_TIMES ?? 1)

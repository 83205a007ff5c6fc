/**
 * The number of rounds of property tests and of journeys that kill processes. bin/soak plays more, to find rare
 * failures.
 */
export const TIMES = Number(process.env.PARLEY_TEST_TIMES ?? 1)

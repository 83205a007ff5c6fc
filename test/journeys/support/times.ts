/** How often journeys that kill processes play each of their rounds; more find what is rare. */
export const TIMES = Number(process.env.PARLEY_TEST_TIMES ?? 1)

/** How often the rounds of random tests, and of journeys that kill processes, are played: several times with `bin/soak --long`. */
export const TIMES = Number(process.env.PARLEY_TEST_TIMES ?? 1)

/** Whether everything is played: also what holds at any size, or in many places alike. */
export const IS_LONG = TIMES > 1

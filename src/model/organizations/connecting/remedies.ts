/** What helps with several reasons. */
export const TRY_AGAIN = 'Try again in a few minutes'

/** Headers of an answer that nobody may keep: not the browser, and no proxy. */
export const NO_STORE = { 'cache-control': 'private, no-store' }

/**
 * Remembers the result of a function per object, as long as the object lives. Neither object nor result may be changed.
 */
export function memoize<Given extends object, Result extends object>(
  work: (given: Given) => Result,
): (given: Given) => Result {
  const results = new WeakMap<Given, Result>()
  return (given) => {
    const known = results.get(given)
    if (known) return known
    const result = work(given)
    results.set(given, result)
    return result
  }
}

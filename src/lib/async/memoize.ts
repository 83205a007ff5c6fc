/**
 * Remembers the result of a function per object, as long as the object lives. Neither object nor result may be changed.
 * Further arguments count the first time.
 */
export function memoize<Given extends object, Further extends unknown[], Result extends object>(
  work: (given: Given, ...further: Further) => Result,
): (given: Given, ...further: Further) => Result {
  const results = new WeakMap<Given, Result>()
  return (given, ...further) => {
    const known = results.get(given)
    if (known) return known
    const result = work(given, ...further)
    results.set(given, result)
    return result
  }
}

/**
 * The function, but working once for each object: what it makes of one is remembered for as long as that object lives. Neither
 * the object nor the result may be changed afterwards.
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

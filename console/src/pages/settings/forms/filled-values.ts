/** The values of a form without empty ones, which keep what is stored. */
export function filledValues(values: object): object {
  const trimmed = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ])
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

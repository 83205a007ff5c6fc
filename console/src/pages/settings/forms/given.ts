/** What was given in a form: what is left empty is left out, and stays as it is stored. */
export function given(values: object): object {
  const trimmed = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ])
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

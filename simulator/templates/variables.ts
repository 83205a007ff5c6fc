/**
 * The variables of a text, `{{1}}` or `{{name}}`, each once and in the order in which they first stand; none of what is
 * no text.
 */
export function variablesOf(text: unknown): string[] {
  if (typeof text !== 'string') return []
  return [...new Set(Array.from(text.matchAll(/\{\{([a-z0-9_]+)\}\}/g), ([, name = '']) => name))]
}

/** Whether a variable has a name; otherwise it has a number. */
export function isNamedVariable(variable: string): boolean {
  return !/^\d+$/.test(variable)
}

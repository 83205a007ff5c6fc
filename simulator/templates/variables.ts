/**
 * The variables of a text, `{{1}}` or `{{name}}`, each once, in the order of their first occurrence; empty if it is not
 * a text.
 */
export function variablesOf(text: unknown): string[] {
  if (typeof text !== 'string') return []
  return [...new Set(Array.from(text.matchAll(/\{\{([a-z0-9_]+)\}\}/g), ([, name = '']) => name))]
}

/** True if the variable has a name, false if it has a number. */
export function isNamedVariable(variable: string): boolean {
  return !/^\d+$/.test(variable)
}

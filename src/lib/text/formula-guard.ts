/** What a spreadsheet may take for the beginning of a formula, behind any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
/** Reads as a number everywhere: an international phone number may stay as it is. */
const PHONE_NUMBER = /^\+\d+$/

/** A cell that no spreadsheet takes for a formula: an apostrophe is put before what could be one. */
export function guardFormula(cell: string): string {
  return FORMULA.test(cell) && !PHONE_NUMBER.test(cell) ? `'${cell}` : cell
}

/** Takes back what `guardFormula` did. */
export function unguardFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

/** The beginning of what a spreadsheet may take for a formula, after any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
/** An international phone number is read as a number and may stay as it is. */
const PHONE_NUMBER = /^\+\d+$/

/** Puts an apostrophe before text that a spreadsheet may take for a formula. */
export function guardFormula(cell: string): string {
  return FORMULA.test(cell) && !PHONE_NUMBER.test(cell) ? `'${cell}` : cell
}

/** Reverses `guardFormula`. */
export function unguardFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

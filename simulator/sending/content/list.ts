import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkOptionalText, checkRequiredText, checkUnique, firstRefusal } from './checks.js'

const { sections: maxSections, rows: maxRows, title: maxButtonLength } = UPSTREAM_LIMITS
const { sectionTitle: maxSectionTitleLength, rowId: maxRowIdLength } = UPSTREAM_LIMITS
const { rowTitle: maxRowTitleLength, description: maxRowDescriptionLength } = UPSTREAM_LIMITS

/** Checks the action of an interactive message of type list. */
export function checkList(action: unknown): Refusal | null {
  if (!isJsonObject(action)) return refusals.missing('action is required')
  const { button, sections } = action
  const refusal = checkRequiredText(button, 'Button text', maxButtonLength)
  if (refusal) return refusal
  if (sections === undefined) return refusals.missing('action: sections is required')
  if (!Array.isArray(sections) || sections.length < 1 || sections.length > maxSections) {
    return refusals.invalidValue(
      `Invalid sections count. Min allowed sections: 1, Max allowed sections: ${maxSections}`,
    )
  }
  return firstRefusal(sections, (section) => checkSection(section, sections.length > 1)) ?? checkRows(sections)
}

function checkSection(section: unknown, needsTitle: boolean): Refusal | null {
  if (!isJsonObject(section)) return refusals.invalidValue('Section must be an object')
  const checkTitle = needsTitle ? checkRequiredText : checkOptionalText
  const refusal = checkTitle(section.title, 'Section title', maxSectionTitleLength)
  if (refusal) return refusal
  if (section.rows === undefined) return refusals.missing('Section rows is required')
  if (Array.isArray(section.rows) && section.rows.length > 0) return null
  return refusals.invalidValue('Section rows must be an array with at least one row')
}

function checkRows(sections: Array<{ rows: unknown[] }>): Refusal | null {
  const rows = sections.flatMap((section) => section.rows)
  if (rows.length > maxRows) return refusals.invalidValue(`Total row count exceed max allowed count: ${maxRows}`)
  return (
    firstRefusal(rows, checkRow) ??
    checkUnique(
      rows.map((row) => (row as JsonObject).id),
      'Row ids',
    )
  )
}

function checkRow(row: unknown): Refusal | null {
  if (!isJsonObject(row)) return refusals.invalidValue('Row must be an object')
  return (
    checkRequiredText(row.id, 'Row id', maxRowIdLength) ??
    checkRequiredText(row.title, 'Row title', maxRowTitleLength) ??
    checkOptionalText(row.description, 'Row description', maxRowDescriptionLength)
  )
}

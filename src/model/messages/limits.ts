import { UPSTREAM_LIMITS } from '../../upstream/limits.js'
import { Problem } from '../problem.js'

/** The limits of a message, in characters and items: the upstream's, and those that are only the API's. */
export const LIMITS = {
  ...UPSTREAM_LIMITS,
  filename: 240,
  url: 4096,
  place: 1000,
  /** Names and numbers on a contact card. */
  cardText: 256,
  emoji: 64,
  instanceName: 100,
} as const

/**
 * Checks the upstream's rules for a list as a whole; `path` and `idName`: the names of the sections and of a row's id
 * in the request.
 */
export function checkSections<IdName extends string>(
  sections: { title?: string | null | undefined; rows: Record<IdName, string>[] }[],
  path: string,
  idName: IdName,
): void {
  const total = sections.reduce((sum, { rows }) => sum + rows.length, 0)
  if (total > LIMITS.rows) {
    throw new Problem(
      'invalid_field',
      `${path} must have at most ${LIMITS.rows} rows in all sections together, not ${total}`,
    )
  }
  checkTitles(sections, path)
  const rows = sections.flatMap(({ rows }, section) =>
    rows.map((row, index) => ({ id: row[idName], path: `${path}[${section}].rows[${index}].${idName}` })),
  )
  refuseTwice(rows, (index) => rows[index]?.path ?? '')
}

/** Checks the upstream's rules for sections of products as a whole; `path` is the field of the sections. */
export function checkProductSections(
  sections: { title?: string | null | undefined; product_ids: string[] }[],
  path: string,
): void {
  const total = sections.reduce((sum, { product_ids: ids }) => sum + ids.length, 0)
  if (total > LIMITS.products) {
    throw new Problem(
      'invalid_field',
      `${path} must have at most ${LIMITS.products} products in all sections together, not ${total}`,
    )
  }
  checkTitles(sections, path)
}

function checkTitles(sections: { title?: string | null | undefined }[], path: string): void {
  const untitled = sections.findIndex(({ title }) => !title)
  if (sections.length > 1 && untitled !== -1) {
    throw new Problem('missing_field', `${path}[${untitled}].title is required if there are several sections`)
  }
}

/** Ids identify the customer's choice, so each must be unique; `pathOf` names the field of an item. */
export function refuseTwice(items: { id: string }[], pathOf: (index: number) => string): void {
  const seen = new Set<string>()
  items.forEach(({ id }, index) => {
    if (seen.has(id)) throw new Problem('invalid_field', `${pathOf(index)} "${id}" is used twice: ids must be unique`)
    seen.add(id)
  })
}

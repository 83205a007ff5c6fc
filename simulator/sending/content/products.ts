import { isJsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkName, parametersOf } from './actions.js'
import { checkOptionalText, checkRequiredText, firstRefusal } from './checks.js'

const { sections: maxSections, products: maxProducts, sectionTitle: maxTitleLength } = UPSTREAM_LIMITS

/** Checks the action that shows one product. */
export function checkProduct(action: unknown): Refusal | null {
  if (!isJsonObject(action)) return refusals.missing('action is required')
  return (
    checkRequiredText(action.catalog_id, 'action: catalog_id') ??
    checkRequiredText(action.product_retailer_id, 'action: product_retailer_id')
  )
}

/** Checks the action that shows products in sections. */
export function checkProductList(action: unknown): Refusal | null {
  if (!isJsonObject(action)) return refusals.missing('action is required')
  return checkRequiredText(action.catalog_id, 'action: catalog_id') ?? checkProductSections(action.sections)
}

/** Checks the action that shows a whole catalogue. */
export function checkCatalog(action: unknown): Refusal | null {
  return (
    checkName(action, 'catalog_message') ??
    checkOptionalText(
      parametersOf(action)?.thumbnail_product_retailer_id,
      'action: parameters: thumbnail_product_retailer_id',
    )
  )
}

/** Checks the sections of a list of products, of a message or a template. */
export function checkProductSections(sections: unknown): Refusal | null {
  if (sections === undefined) return refusals.missing('action: sections is required')
  if (!Array.isArray(sections) || sections.length < 1 || sections.length > maxSections) {
    return refusals.invalidValue(
      `Invalid sections count. Min allowed sections: 1, Max allowed sections: ${maxSections}`,
    )
  }
  const refusal = firstRefusal(sections, (section) => checkSection(section, sections.length > 1))
  if (refusal) return refusal
  const total = sections.reduce((sum, { product_items: items }) => sum + items.length, 0)
  if (total <= maxProducts) return null
  return refusals.invalidValue(`Total product count exceed max allowed count: ${maxProducts}`)
}

function checkSection(section: unknown, needsTitle: boolean): Refusal | null {
  if (!isJsonObject(section)) return refusals.invalidValue('Section must be an object')
  const checkTitle = needsTitle ? checkRequiredText : checkOptionalText
  const refusal = checkTitle(section.title, 'Section title', maxTitleLength)
  if (refusal) return refusal
  const { product_items: items } = section
  if (items === undefined) return refusals.missing('Section product_items is required')
  if (!Array.isArray(items) || items.length === 0) {
    return refusals.invalidValue('Section product_items must be an array with at least one product')
  }
  return firstRefusal(items, checkItem)
}

function checkItem(item: unknown): Refusal | null {
  if (!isJsonObject(item)) return refusals.invalidValue('Product item must be an object')
  return checkRequiredText(item.product_retailer_id, 'Product item: product_retailer_id')
}

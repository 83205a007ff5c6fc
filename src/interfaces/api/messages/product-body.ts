import { type Static, Type } from 'typebox'
import { named } from '../../../http/description/name-schemas.js'
import { Maybe, RequiredList, RequiredText } from '../../../model/fields.js'
import { checkProductSections, LIMITS } from '../../../model/messages/limits.js'
import { body, catalogId, footer, ProductId, productSection } from './interactive-fields.js'
import { textOrNull } from './one-of.js'

/** One product; its picture, name and price are the text. */
export const ProductOffer = named(
  'ProductOffer',
  Type.Object({
    type: Type.Literal('product'),
    body: Maybe(Type.String({ maxLength: LIMITS.body })),
    footer,
    catalog_id: catalogId,
    product_id: ProductId,
  }),
)

/** Products in sections. */
export const ProductList = named(
  'ProductList',
  Type.Object({
    type: Type.Literal('product_list'),
    body,
    header: RequiredText(LIMITS.header),
    footer,
    catalog_id: catalogId,
    sections: RequiredList(productSection('Required in a list of several sections'), LIMITS.sections),
  }),
)

/** The products of a list, without its texts. Throws missing_field and invalid_field for its rules as a whole. */
export function readProductList({ catalog_id, sections }: Static<typeof ProductList>) {
  checkProductSections(sections, 'interactive.sections')
  return {
    type: 'product_list' as const,
    catalog_id,
    sections: sections.map(({ title, product_ids }) => ({ title: textOrNull(title), product_ids })),
  }
}

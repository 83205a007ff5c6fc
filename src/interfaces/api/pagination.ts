import { Type } from 'typebox'
import { limitOf } from '../../model/fields.js'

/** The default number of items on a page. */
export const PAGE_SIZE = 50

/** The query parameter for the number of items on a page. */
export const limit = limitOf(PAGE_SIZE)

/**
 * The pagination of a list, as schema and as value. `totalName` and `limitName` are what the answer calls the total and
 * the limit, such as `totalContacts`.
 */
export function paginationOf(totalName: `total${string}`, limitName: `${string}PerPage`) {
  return {
    schema: Type.Object({
      currentPage: Type.Integer(),
      totalPages: Type.Integer(),
      [totalName]: Type.Integer(),
      [limitName]: Type.Integer(),
      hasNextPage: Type.Boolean(),
      hasPrevPage: Type.Boolean(),
    }),
    show: (page: number, limit: number, total: number) => {
      const { totalPages, ...position } = paginate(page, limit, total)
      return { currentPage: page, totalPages, [totalName]: total, [limitName]: limit, ...position }
    },
  }
}

/** Where a page stands among all. */
function paginate(page: number, limit: number, total: number) {
  const totalPages = Math.ceil(total / limit)
  return { totalPages, hasNextPage: page < totalPages, hasPrevPage: page > 1 && totalPages > 0 }
}

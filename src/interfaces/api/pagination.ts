import { Type } from 'typebox'

/** The pagination of a list, as schema and as value (the first page is 1); the names are those of its total and its limit (`totalContacts`, …). */
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

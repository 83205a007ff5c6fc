/** Where a page stands among all; the first page is 1 (spec 2.3). */
export function paginate(page: number, limit: number, total: number) {
  const totalPages = Math.ceil(total / limit)
  return { totalPages, hasNextPage: page < totalPages, hasPrevPage: page > 1 && totalPages > 0 }
}

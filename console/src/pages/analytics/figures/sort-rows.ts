/** Sorts rows by a value. The sort is stable. */
export function sortRows<Row>(rows: Row[], sortBy: (row: Row) => string | number, isDescending: boolean): Row[] {
  const sign = isDescending ? -1 : 1
  return rows.toSorted((a, b) => sign * compare(sortBy(a), sortBy(b)))
}

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
}

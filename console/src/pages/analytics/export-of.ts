import { apiUrl } from '../../api/client.js'
import type { Range } from './data.js'

/** Where the file with a table of the range is. */
export function exportOf(table: 'campaigns' | 'days' | 'templates' | 'errors', { from, to }: Range): string {
  return apiUrl('/analytics/export', { table, startDate: from, endDate: to })
}

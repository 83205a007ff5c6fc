import { apiUrl } from '../../api/client.js'
import type { Range } from './data.js'

/** URL of the CSV file of a table. */
export function exportOf(table: 'campaigns' | 'days' | 'templates' | 'errors', { from, to }: Range): string {
  return apiUrl('/analytics/export', { table, startDate: from, endDate: to })
}

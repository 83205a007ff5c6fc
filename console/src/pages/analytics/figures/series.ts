/** The series of the charts, in the order of events. Their colours are in figures.module.css. */
export const SERIES = [
  { name: 'sent', color: 'var(--series-sent)' },
  { name: 'delivered', color: 'var(--series-delivered)' },
  { name: 'read', color: 'var(--series-read)' },
  { name: 'failed', color: 'var(--series-failed)' },
] as const

/** What is drawn of each day or campaign, in the order in which it happens; the colours are those of figures.module.css. */
export const SERIES = [
  { name: 'sent', color: 'var(--series-sent)' },
  { name: 'delivered', color: 'var(--series-delivered)' },
  { name: 'read', color: 'var(--series-read)' },
  { name: 'failed', color: 'var(--series-failed)' },
] as const

import { VisuallyHidden } from '@mantine/core'

/**
 * Props that name a group of radios or checkboxes for screen readers only. (The library puts an `aria-label` on an
 * element without a role.)
 */
export function hiddenLabel(text: string) {
  return { label: <VisuallyHidden>{text}</VisuallyHidden>, labelProps: { display: 'block' } } as const
}

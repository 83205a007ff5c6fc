import { VisuallyHidden } from '@mantine/core'

/**
 * Names a group of radios or checkboxes for those who do not see what stands around it. (The library hands an `aria-label` to
 * an element that has no role.)
 */
export function hiddenLabel(text: string) {
  return { label: <VisuallyHidden>{text}</VisuallyHidden>, labelProps: { display: 'block' } } as const
}

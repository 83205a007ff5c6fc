import { IconBan } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './body.module.css'

/** Says why a message has no content to show. */
export function Missing({ children }: { children: ReactNode }) {
  return (
    <span className={classes.missing}>
      <IconBan aria-hidden size={16} />
      {children}
    </span>
  )
}

import { useState } from 'react'

/** The subject of a dialog. It stays while the dialog closes, to avoid flicker. */
export function useSubject<Subject>() {
  const [subject, setSubject] = useState<Subject | null>(null)
  const [isOpen, setOpen] = useState(false)
  return {
    subject,
    isOpen,
    open: (next: Subject) => {
      setSubject(next)
      setOpen(true)
    },
    close: () => setOpen(false),
  }
}

import { useState } from 'react'

/** What a dialog is about. It stays while the dialog closes, so that nothing flickers. */
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

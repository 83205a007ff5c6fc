import { useEffect } from 'react'

/** Has the browser ask before it leaves a form with something in it that is not saved. */
export function useWarnUnsaved(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isDirty])
}

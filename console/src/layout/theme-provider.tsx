import { createTheme, MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { theme, variables } from '../theme.js'

/** Theme, and texts of the component library in the page's language. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const close = t('close')
  const named = useMemo(() => {
    const withClose = { defaultProps: { closeButtonProps: { 'aria-label': close } } }
    // By name, so that components are not loaded before they are used.
    const components = { Modal: withClose, Drawer: withClose, Notification: withClose }
    return mergeThemeOverrides(theme, createTheme({ components }))
  }, [close])
  return (
    <MantineProvider theme={named} cssVariablesResolver={variables} defaultColorScheme="auto">
      {children}
    </MantineProvider>
  )
}

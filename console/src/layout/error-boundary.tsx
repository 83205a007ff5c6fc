import { Alert, Button, Center } from '@mantine/core'
import i18next from 'i18next'
import { Component, type ReactNode } from 'react'

/** Error boundary: shows that a part of the page failed, with a way to continue. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (!error) return this.props.children
    return (
      <Center mih="100dvh" p="md">
        <Alert color="red" title={i18next.t('failed')}>
          {error.message}
          <Button mt="md" size="xs" variant="default" onClick={() => window.location.reload()}>
            {i18next.t('retry')}
          </Button>
        </Alert>
      </Center>
    )
  }
}

// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "events.list": [
    {
      "name": "example",
      "query": {"types": "contact.created", "limit": "1"},
      "status": 200,
      "answer": {
        "success": true,
        "events": [
          {
            "id": "01a20000-0000-7000-8000-000000000025",
            "type": "contact.created",
            "timestamp": "2026-03-02T09:00:00.000Z",
            "data": {
              "contact": {
                "id": "01a20000-0000-7000-8000-000000000002",
                "full_name": "Ana Souza",
                "chat_id": "5511987654321",
                "phone_number": "+5511987654321",
                "email": null,
                "tags": ["vip"],
                "organization_id": "01a20000-0000-7000-8000-000000000003",
                "bot_status": null,
                "allow_broadcast": true,
                "archived": false,
                "blocked": false,
                "active_status": false,
                "has_unread_messages": false,
                "source": null,
                "contact_summary": null,
                "contact_summary_updated_at": null,
                "created_at": "2026-03-02T09:00:00.000Z",
                "updated_at": "2026-03-02T09:00:00.000Z"
              }
            }
          }
        ],
        "next_after": "MToxMjovLw"
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"types": "contact.lost"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid parameter",
        "message": "types \"contact.lost\" is not one of message.received, message.sent, message.delivered, message.read, message.failed, message.reaction, contact.created, contact.updated, contact.opted_out, broadcast.started, broadcast.completed, template.status_changed, webhook.disabled and * for all"
      }
    }
  ],
  "events.onBroadcastCompleted": [
    {
      "name": "example",
      "body": {
        "type": "broadcast.completed",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "broadcast": {
            "id": "01a20000-0000-7000-8000-000000000016",
            "name": "Spring",
            "templateName": "hello_world",
            "language": "en_US",
            "status": "completed",
            "totalRecipients": 2,
            "skippedRecipients": 0,
            "scheduled_at": null,
            "started_at": "2026-03-02T09:00:00.000Z",
            "completed_at": "2026-03-02T09:00:00.000Z",
            "created_at": "2026-03-02T09:00:00.000Z",
            "reason": null
          }
        }
      }
    }
  ],
  "events.onBroadcastStarted": [
    {
      "name": "example",
      "body": {
        "type": "broadcast.started",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "broadcast": {
            "id": "01a20000-0000-7000-8000-000000000016",
            "name": "Spring",
            "templateName": "hello_world",
            "language": "en_US",
            "status": "running",
            "totalRecipients": 2,
            "skippedRecipients": 0,
            "scheduled_at": null,
            "started_at": "2026-03-02T09:00:00.000Z",
            "completed_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "reason": null
          }
        }
      }
    }
  ],
  "events.onContactCreated": [
    {
      "name": "example",
      "body": {
        "type": "contact.created",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onContactOptedOut": [
    {
      "name": "example",
      "body": {
        "type": "contact.opted_out",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000004",
            "full_name": "Bruno Lima",
            "chat_id": "5511912345678",
            "phone_number": "+5511912345678",
            "email": null,
            "tags": [],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": false,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": {"type": "import", "created_at": "2026-03-02T09:00:00.000Z"},
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onContactUpdated": [
    {
      "name": "example",
      "body": {
        "type": "contact.updated",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onMessageDelivered": [
    {
      "name": "example",
      "body": {
        "type": "message.delivered",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "delivered",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000011",
            "message_id": "wamid.EXAMPLE1",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          },
          "previous_status": "sent"
        }
      }
    }
  ],
  "events.onMessageFailed": [
    {
      "name": "example",
      "body": {
        "type": "message.failed",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "failed",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000005",
            "message_id": null,
            "message_type": "text",
            "context_message_id": null,
            "error": {"code": 131026, "text": "Message Undeliverable."},
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000007",
            "full_name": null,
            "chat_id": "5511900000001",
            "phone_number": "+5511900000001",
            "email": null,
            "tags": [],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          },
          "previous_status": "sent"
        }
      }
    }
  ],
  "events.onMessageReaction": [
    {
      "name": "example",
      "body": {
        "type": "message.reaction",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "👍",
            "sender_type": "user-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "delivered",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000026",
            "message_id": "wamid.EXAMPLE15",
            "message_type": "reaction",
            "context_message_id": "wamid.EXAMPLE12",
            "error": null,
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": true,
            "has_unread_messages": true,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onMessageRead": [
    {
      "name": "example",
      "body": {
        "type": "message.read",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "read",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000011",
            "message_id": "wamid.EXAMPLE1",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          },
          "previous_status": "delivered"
        }
      }
    }
  ],
  "events.onMessageReceived": [
    {
      "name": "example",
      "body": {
        "type": "message.received",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "Thank you!",
            "sender_type": "user-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "delivered",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000010",
            "message_id": "wamid.EXAMPLE12",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": true,
            "has_unread_messages": true,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onMessageSent": [
    {
      "name": "example",
      "body": {
        "type": "message.sent",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "message": {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "sent",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000011",
            "message_id": "wamid.EXAMPLE1",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          "contact": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "full_name": "Ana Souza",
            "chat_id": "5511987654321",
            "phone_number": "+5511987654321",
            "email": null,
            "tags": ["vip", "newsletter"],
            "organization_id": "01a20000-0000-7000-8000-000000000003",
            "bot_status": null,
            "allow_broadcast": true,
            "archived": false,
            "blocked": false,
            "active_status": false,
            "has_unread_messages": false,
            "source": null,
            "contact_summary": null,
            "contact_summary_updated_at": null,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        }
      }
    }
  ],
  "events.onTemplateStatusChanged": [
    {
      "name": "example",
      "body": {
        "type": "template.status_changed",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "template": {
            "name": "hello_world",
            "language": "en_US",
            "status": "PAUSED",
            "category": "UTILITY",
            "parameter_format": "POSITIONAL",
            "components": [
              {"text": "Hello World", "type": "HEADER", "format": "TEXT"},
              {"text": "Welcome and congratulations! This message shows that templates can be sent.", "type": "BODY"},
              {"text": "The simulator", "type": "FOOTER"}
            ]
          }
        }
      }
    }
  ],
  "events.onWebhookDisabled": [
    {
      "name": "example",
      "body": {
        "type": "webhook.disabled",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "webhook": {
            "id": "01a20000-0000-7000-8000-000000000027",
            "url": "https://old.example/hooks/parley",
            "events": ["contact.updated"],
            "description": null,
            "active": false,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z",
            "disabled_reason": "The endpoint answered 410: it is gone"
          },
          "reason": "The endpoint answered 410: it is gone"
        }
      }
    }
  ],
  "events.onWebhookTest": [
    {
      "name": "example",
      "body": {
        "type": "webhook.test",
        "timestamp": "2026-03-02T09:00:00.000Z",
        "data": {
          "webhook": {
            "id": "01a20000-0000-7000-8000-000000000001",
            "url": "https://shop.example/hooks/parley",
            "events": ["*"],
            "description": "Orders",
            "active": true,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z",
            "disabled_reason": null
          }
        }
      }
    }
  ]
}

// biome-ignore-all format: recorded by test/interfaces/description/examples.test.ts; `npx vitest run -u` with it records again
import type { Examples } from '../../http/description/examples.js'

export const examples: Examples = {
 "contacts.create": [
  {
   "name": "example",
   "body": {
    "phone_number": "+5511987654321",
    "full_name": "Ana Souza",
    "tags": [
     "vip"
    ]
   },
   "status": 201,
   "answer": {
    "success": true,
    "contact": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "full_name": "Ana Souza",
     "chat_id": "5511987654321",
     "phone_number": "+5511987654321",
     "email": null,
     "tags": [
      "vip"
     ],
     "organization_id": "01a20000-0000-7000-8000-000000000002",
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
 "contacts.get": [
  {
   "name": "example",
   "query": {
    "phone_number": "+5511987654321"
   },
   "status": 200,
   "answer": {
    "success": true,
    "contact": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "full_name": "Ana Souza",
     "chat_id": "5511987654321",
     "phone_number": "+5511987654321",
     "email": null,
     "tags": [
      "vip"
     ],
     "organization_id": "01a20000-0000-7000-8000-000000000002",
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
  },
  {
   "name": "unknown",
   "query": {
    "phone_number": "+5511900000000"
   },
   "status": 404,
   "answer": {
    "success": false,
    "error": "Contact not found",
    "message": "No contact with phone_number +5511900000000 in this organization"
   }
  }
 ],
 "contacts.update": [
  {
   "name": "example",
   "query": {
    "phone_number": "+5511987654321"
   },
   "body": {
    "tags": [
     "vip",
     "newsletter"
    ]
   },
   "status": 200,
   "answer": {
    "success": true,
    "contact": {
     "id": "01a20000-0000-7000-8000-000000000001",
     "full_name": "Ana Souza",
     "chat_id": "5511987654321",
     "phone_number": "+5511987654321",
     "email": null,
     "tags": [
      "vip",
      "newsletter"
     ],
     "organization_id": "01a20000-0000-7000-8000-000000000002",
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
 "contacts.import": [
  {
   "name": "example",
   "body": "phone_number,full_name\n+5511912345678,Bruno Lima\n",
   "status": 200,
   "answer": {
    "success": true,
    "summary": {
     "total": 1,
     "created": 1,
     "updated": 0,
     "unchanged": 0,
     "skipped": 0,
     "failed": 0
    },
    "failures": [],
    "results": [
     {
      "row": 2,
      "status": "created",
      "chat_id": "5511912345678",
      "id": "01a20000-0000-7000-8000-000000000003"
     }
    ]
   }
  }
 ],
 "contacts.export": [
  {
   "name": "example",
   "status": 200,
   "answer": "id,full_name,chat_id,phone_number,email,tags,organization_id,bot_status,allow_broadcast,archived,blocked,active_status,has_unread_messages,source,contact_summary,contact_summary_updated_at,created_at,updated_at\r\n01a20000-0000-7000-8000-000000000001,Ana Souza,5511987654321,+5511987654321,,vip;newsletter,01a20000-0000-7000-8000-000000000002,,true,false,false,false,false,,,,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z\r\n01a20000-0000-7000-8000-000000000003,Bruno Lima,5511912345678,+5511912345678,,,01a20000-0000-7000-8000-000000000002,,true,false,false,false,false,\"{\"\"type\"\":\"\"import\"\",\"\"created_at\"\":\"\"2026-03-02T09:00:00.000Z\"\"}\",,,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z\r\n"
  }
 ],
 "webhooks.set": [
  {
   "name": "example",
   "body": {
    "url": "https://shop.example/hooks/parley",
    "events": [
     "*"
    ],
    "description": "Orders"
   },
   "status": 201,
   "answer": {
    "success": true,
    "message": "The webhook is set: keep its secret",
    "webhook": {
     "id": "01a20000-0000-7000-8000-000000000004",
     "url": "https://shop.example/hooks/parley",
     "events": [
      "*"
     ],
     "description": "Orders",
     "active": true,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z",
     "disabled_reason": null,
     "secret": "whsec_EXAMPLE"
    }
   }
  }
 ],
 "webhooks.list": [
  {
   "name": "example",
   "status": 200,
   "answer": {
    "success": true,
    "webhooks": [
     {
      "id": "01a20000-0000-7000-8000-000000000004",
      "url": "https://shop.example/hooks/parley",
      "events": [
       "*"
      ],
      "description": "Orders",
      "active": true,
      "created_at": "2026-03-02T09:00:00.000Z",
      "updated_at": "2026-03-02T09:00:00.000Z",
      "disabled_reason": null
     }
    ]
   }
  }
 ],
 "messages.send": [
  {
   "name": "text",
   "body": {
    "phone_number": "+5511987654321",
    "message_type": "text",
    "text": "Hello Ana"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "Message sent successfully",
    "data": {
     "message_id": "wamid.EXAMPLE1",
     "recipient": "5511987654321",
     "message_type": "text",
     "organization": "Acme",
     "meta_response": {
      "messaging_product": "whatsapp",
      "contacts": [
       {
        "input": "5511987654321",
        "wa_id": "5511987654321"
       }
      ],
      "messages": [
       {
        "id": "wamid.EXAMPLE1"
       }
      ]
     }
    }
   }
  },
  {
   "name": "missing_text",
   "body": {
    "phone_number": "+5511987654321",
    "message_type": "text"
   },
   "status": 400,
   "answer": {
    "success": false,
    "error": "Missing required field",
    "message": "text is required for text messages"
   }
  }
 ],
 "conversations.list": [
  {
   "name": "example",
   "query": {
    "chatNumber": "5511987654321",
    "limit": "2"
   },
   "status": 200,
   "answer": {
    "success": true,
    "messages": [
     {
      "message": "Thank you!",
      "sender_type": "user-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "delivered",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000005",
      "message_id": "wamid.EXAMPLE2",
      "message_type": "text",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     {
      "message": "Hello Ana",
      "sender_type": "bot-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "read",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000006",
      "message_id": "wamid.EXAMPLE1",
      "message_type": "text",
      "context_message_id": null,
      "error": null,
      "outcome": null
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 1,
     "totalMessages": 2,
     "messagesPerPage": 2,
     "hasNextPage": false,
     "hasPrevPage": false
    },
    "count": 2,
    "searchTerms": null,
    "filtered": false,
    "stored": true
   }
  }
 ],
 "conversations.export": [
  {
   "name": "example",
   "query": {
    "chatNumber": "5511987654321",
    "format": "json"
   },
   "status": 200,
   "answer": {
    "success": true,
    "messages": [
     {
      "message": "Hello Ana",
      "sender_type": "bot-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "read",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000006",
      "message_id": "wamid.EXAMPLE1",
      "message_type": "text",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     {
      "message": "Thank you!",
      "sender_type": "user-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "delivered",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000005",
      "message_id": "wamid.EXAMPLE2",
      "message_type": "text",
      "context_message_id": null,
      "error": null,
      "outcome": null
     }
    ]
   }
  }
 ],
 "templates.sync": [
  {
   "name": "example",
   "status": 200,
   "answer": {
    "success": true,
    "message": "4 templates are known",
    "total": 4,
    "added": 0,
    "changed": 0,
    "removed": 0,
    "synced_at": "2026-03-02T09:00:00.000Z"
   }
  }
 ],
 "messages.sendTemplate": [
  {
   "name": "example",
   "body": {
    "templateName": "hello_world",
    "chatNumber": "+5511987654321"
   },
   "status": 200,
   "answer": {
    "success": true,
    "summary": {
     "total": 1,
     "successful": 1,
     "failed": 0
    },
    "results": [
     {
      "contactId": "01a20000-0000-7000-8000-000000000001",
      "contactName": "Ana Souza",
      "success": true,
      "messageId": "wamid.EXAMPLE3",
      "error": null
     }
    ],
    "broadcastId": "01a20000-0000-7000-8000-000000000007"
   }
  }
 ],
 "broadcasts.create": [
  {
   "name": "example",
   "body": {
    "name": "Spring",
    "templateName": "hello_world",
    "audience": {
     "tags": [
      "newsletter"
     ]
    },
    "scheduled_at": "2099-01-01T09:00:00Z"
   },
   "status": 202,
   "answer": {
    "success": true,
    "broadcast": {
     "id": "01a20000-0000-7000-8000-000000000008",
     "name": "Spring",
     "templateName": "hello_world",
     "language": "en_US",
     "status": "scheduled",
     "totalRecipients": 1,
     "skippedRecipients": 0,
     "scheduled_at": "2026-03-02T09:00:00.000Z",
     "started_at": null,
     "completed_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "reason": null
    }
   }
  }
 ],
 "broadcasts.get": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "broadcast": {
     "id": "01a20000-0000-7000-8000-000000000008",
     "name": "Spring",
     "templateName": "hello_world",
     "language": "en_US",
     "status": "scheduled",
     "totalRecipients": 1,
     "skippedRecipients": 0,
     "scheduled_at": "2026-03-02T09:00:00.000Z",
     "started_at": null,
     "completed_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "reason": null
    }
   }
  }
 ],
 "broadcasts.pause": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "broadcast": {
     "id": "01a20000-0000-7000-8000-000000000008",
     "name": "Spring",
     "templateName": "hello_world",
     "language": "en_US",
     "status": "paused",
     "totalRecipients": 1,
     "skippedRecipients": 0,
     "scheduled_at": "2026-03-02T09:00:00.000Z",
     "started_at": null,
     "completed_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "reason": null
    }
   }
  }
 ],
 "broadcasts.resume": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "broadcast": {
     "id": "01a20000-0000-7000-8000-000000000008",
     "name": "Spring",
     "templateName": "hello_world",
     "language": "en_US",
     "status": "scheduled",
     "totalRecipients": 1,
     "skippedRecipients": 0,
     "scheduled_at": "2026-03-02T09:00:00.000Z",
     "started_at": null,
     "completed_at": null,
     "created_at": "2026-03-02T09:00:00.000Z",
     "reason": null
    }
   }
  }
 ],
 "broadcasts.listRecipients": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "recipients": [
     {
      "contactId": "01a20000-0000-7000-8000-000000000001",
      "chatNumber": "5511987654321",
      "contactName": "Ana Souza",
      "status": "pending",
      "reason": null,
      "messageId": null,
      "errorCode": null,
      "errorMessage": null,
      "sent_at": null,
      "delivered_at": null,
      "read_at": null
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 1,
     "totalRecipients": 1,
     "recipientsPerPage": 50,
     "hasNextPage": false,
     "hasPrevPage": false
    },
    "count": 1
   }
  }
 ],
 "broadcasts.cancel": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "broadcast": {
     "id": "01a20000-0000-7000-8000-000000000008",
     "name": "Spring",
     "templateName": "hello_world",
     "language": "en_US",
     "status": "cancelled",
     "totalRecipients": 0,
     "skippedRecipients": 1,
     "scheduled_at": "2026-03-02T09:00:00.000Z",
     "started_at": null,
     "completed_at": "2026-03-02T09:00:00.000Z",
     "created_at": "2026-03-02T09:00:00.000Z",
     "reason": null
    }
   }
  }
 ],
 "broadcasts.retryFailed": [
  {
   "name": "refused",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 409,
   "answer": {
    "success": false,
    "error": "Invalid broadcast state",
    "message": "The broadcast is cancelled: only one that is running or paused or completed can be retried"
   }
  }
 ],
 "broadcasts.list": [
  {
   "name": "example",
   "query": {
    "limit": "10"
   },
   "status": 200,
   "answer": {
    "success": true,
    "broadcasts": [
     {
      "id": "01a20000-0000-7000-8000-000000000008",
      "name": "Spring",
      "templateName": "hello_world",
      "language": "en_US",
      "status": "cancelled",
      "totalRecipients": 0,
      "skippedRecipients": 1,
      "scheduled_at": "2026-03-02T09:00:00.000Z",
      "started_at": null,
      "completed_at": "2026-03-02T09:00:00.000Z",
      "created_at": "2026-03-02T09:00:00.000Z",
      "reason": null
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 1,
     "totalBroadcasts": 1,
     "broadcastsPerPage": 10,
     "hasNextPage": false,
     "hasPrevPage": false
    },
    "count": 1
   }
  }
 ],
 "shortLinks.create": [
  {
   "name": "example",
   "body": {
    "redirect_url": "https://shop.example/?utm_campaign=spring",
    "code": "spring"
   },
   "status": 201,
   "answer": {
    "success": true,
    "shortlink": {
     "code": "spring",
     "short_url": "https://parley.example/s/spring",
     "redirect_url": "https://shop.example/?utm_campaign=spring"
    }
   }
  }
 ],
 "shortLinks.list": [
  {
   "name": "example",
   "status": 200,
   "answer": {
    "success": true,
    "shortlinks": [
     {
      "code": "spring",
      "short_url": "https://parley.example/s/spring",
      "redirect_url": "https://shop.example/?utm_campaign=spring",
      "clicks": 0,
      "created_at": "2026-03-02T09:00:00.000Z"
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 1,
     "totalShortLinks": 1,
     "shortLinksPerPage": 50,
     "hasNextPage": false,
     "hasPrevPage": false
    }
   }
  }
 ],
 "analytics.get": [
  {
   "name": "example",
   "query": {
    "broadcast_id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "data": {
     "broadcastInfo": {
      "id": "01a20000-0000-7000-8000-000000000008",
      "name": "Spring",
      "templateName": "hello_world",
      "createdAt": "2026-03-02T09:00:00.000Z",
      "totalRecipients": 0
     },
     "deliveryStats": {
      "sent": 0,
      "delivered": 0,
      "read": 0,
      "failed": 0,
      "deliveryRate": 0,
      "readRate": 0
     },
     "conversionFunnel": {
      "sent": 0,
      "delivered": 0,
      "read": 0,
      "buttonClicked": 0,
      "optedOut": 0
     },
     "buttonAnalytics": null,
     "allButtons": [],
     "totalButtonClicks": 0,
     "optOutAnalytics": {
      "totalOptOuts": 0,
      "optOutRate": 0
     },
     "revenue": {
      "totalRevenue": 0,
      "currency": "BRL",
      "orderCount": 0,
      "avgOrderValue": 0,
      "utmCampaign": null,
      "utmCampaigns": [],
      "orders": [],
      "otherCurrencies": [],
      "attributed": {
       "totalRevenue": 0,
       "orderCount": 0,
       "avgOrderValue": 0,
       "currency": "BRL",
       "window_days": 7
      }
     }
    }
   }
  }
 ],
 "analytics.query": [
  {
   "name": "example",
   "body": {
    "broadcast_id": "01a20000-0000-7000-8000-000000000008"
   },
   "status": 200,
   "answer": {
    "success": true,
    "data": {
     "broadcastInfo": {
      "id": "01a20000-0000-7000-8000-000000000008",
      "name": "Spring",
      "templateName": "hello_world",
      "createdAt": "2026-03-02T09:00:00.000Z",
      "totalRecipients": 0
     },
     "deliveryStats": {
      "sent": 0,
      "delivered": 0,
      "read": 0,
      "failed": 0,
      "deliveryRate": 0,
      "readRate": 0
     },
     "conversionFunnel": {
      "sent": 0,
      "delivered": 0,
      "read": 0,
      "buttonClicked": 0,
      "optedOut": 0
     },
     "buttonAnalytics": null,
     "allButtons": [],
     "totalButtonClicks": 0,
     "optOutAnalytics": {
      "totalOptOuts": 0,
      "optOutRate": 0
     },
     "revenue": {
      "totalRevenue": 0,
      "currency": "BRL",
      "orderCount": 0,
      "avgOrderValue": 0,
      "utmCampaign": null,
      "utmCampaigns": [],
      "orders": [],
      "otherCurrencies": [],
      "attributed": {
       "totalRevenue": 0,
       "orderCount": 0,
       "avgOrderValue": 0,
       "currency": "BRL",
       "window_days": 7
      }
     }
    }
   }
  }
 ],
 "optOuts.import": [
  {
   "name": "example",
   "body": "phone_number\n+5511912345678\n",
   "status": 200,
   "answer": {
    "success": true,
    "summary": {
     "total": 1,
     "created": 0,
     "updated": 1,
     "unchanged": 0,
     "skipped": 0,
     "failed": 0
    },
    "failures": [],
    "results": [
     {
      "row": 2,
      "status": "updated",
      "chat_id": "5511912345678",
      "id": "01a20000-0000-7000-8000-000000000003"
     }
    ]
   }
  }
 ],
 "optOuts.list": [
  {
   "name": "example",
   "status": 200,
   "answer": {
    "success": true,
    "optOuts": [
     {
      "contactId": "01a20000-0000-7000-8000-000000000003",
      "chatNumber": "5511912345678",
      "contactName": "Bruno Lima",
      "opted_out_at": "2026-03-02T09:00:00.000Z",
      "source": "import"
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 1,
     "totalOptOuts": 1,
     "optOutsPerPage": 50,
     "hasNextPage": false,
     "hasPrevPage": false
    },
    "count": 1
   }
  }
 ],
 "optOuts.export": [
  {
   "name": "example",
   "status": 200,
   "answer": "contactId,chatNumber,contactName,opted_out_at,source\r\n01a20000-0000-7000-8000-000000000003,5511912345678,Bruno Lima,2026-03-02T09:00:00.000Z,import\r\n"
  }
 ],
 "webhooks.test": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The test is on its way",
    "delivery": {
     "id": "01a20000-0000-7000-8000-000000000009",
     "webhook_id": "01a20000-0000-7000-8000-000000000004",
     "event_id": "01a20000-0000-7000-8000-000000000010",
     "event_type": "webhook.test",
     "status": "pending",
     "attempts": [],
     "next_attempt_at": "2026-03-02T09:00:00.000Z",
     "created_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "deliveries.get": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000009"
   },
   "status": 200,
   "answer": {
    "success": true,
    "delivery": {
     "id": "01a20000-0000-7000-8000-000000000009",
     "webhook_id": "01a20000-0000-7000-8000-000000000004",
     "event_id": "01a20000-0000-7000-8000-000000000010",
     "event_type": "webhook.test",
     "status": "delivered",
     "attempts": [
      {
       "at": "2026-03-02T09:00:00.000Z",
       "response_status": 204,
       "error": null,
       "duration_ms": 42,
       "response_body": null
      }
     ],
     "next_attempt_at": null,
     "created_at": "2026-03-02T09:00:00.000Z"
    },
    "body": {
     "type": "webhook.test",
     "timestamp": "2026-03-02T09:00:00.000Z",
     "data": {
      "webhook": {
       "id": "01a20000-0000-7000-8000-000000000004",
       "url": "https://shop.example/hooks/parley",
       "events": [
        "*"
       ],
       "description": "Orders",
       "active": true,
       "created_at": "2026-03-02T09:00:00.000Z",
       "updated_at": "2026-03-02T09:00:00.000Z",
       "disabled_reason": null
      }
     }
    }
   }
  }
 ],
 "deliveries.list": [
  {
   "name": "example",
   "query": {
    "webhook_id": "01a20000-0000-7000-8000-000000000004",
    "limit": "1"
   },
   "status": 200,
   "answer": {
    "success": true,
    "deliveries": [
     {
      "id": "01a20000-0000-7000-8000-000000000011",
      "webhook_id": "01a20000-0000-7000-8000-000000000004",
      "event_id": "01a20000-0000-7000-8000-000000000012",
      "event_type": "message.read",
      "status": "delivered",
      "attempts": [
       {
        "at": "2026-03-02T09:00:00.000Z",
        "response_status": 204,
        "error": null,
        "duration_ms": 42,
        "response_body": null
       }
      ],
      "next_attempt_at": null,
      "created_at": "2026-03-02T09:00:00.000Z"
     }
    ],
    "pagination": {
     "currentPage": 1,
     "totalPages": 10,
     "totalDeliveries": 10,
     "deliveriesPerPage": 1,
     "hasNextPage": true,
     "hasPrevPage": false
    },
    "count": 1
   }
  }
 ],
 "deliveries.replay": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000009"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The event is delivered once more",
    "delivery": {
     "id": "01a20000-0000-7000-8000-000000000013",
     "webhook_id": "01a20000-0000-7000-8000-000000000004",
     "event_id": "01a20000-0000-7000-8000-000000000010",
     "event_type": "webhook.test",
     "status": "pending",
     "attempts": [],
     "next_attempt_at": "2026-03-02T09:00:00.000Z",
     "created_at": "2026-03-02T09:00:00.000Z"
    }
   }
  }
 ],
 "deliveries.replayRange": [
  {
   "name": "example",
   "body": {
    "webhook_id": "01a20000-0000-7000-8000-000000000004",
    "from": "2026-01-01T00:00:00Z",
    "to": "2026-01-02T00:00:00Z"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "0 events are delivered to the webhook",
    "count": 0
   }
  }
 ],
 "events.list": [
  {
   "name": "example",
   "query": {
    "types": "contact.created",
    "limit": "1"
   },
   "status": 200,
   "answer": {
    "success": true,
    "events": [
     {
      "id": "01a20000-0000-7000-8000-000000000014",
      "type": "contact.created",
      "timestamp": "2026-03-02T09:00:00.000Z",
      "data": {
       "contact": {
        "id": "01a20000-0000-7000-8000-000000000001",
        "full_name": "Ana Souza",
        "chat_id": "5511987654321",
        "phone_number": "+5511987654321",
        "email": null,
        "tags": [
         "vip"
        ],
        "organization_id": "01a20000-0000-7000-8000-000000000002",
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
      "message": "Welcome and congratulations! This message shows that templates can be sent.",
      "sender_type": "bot-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "sent",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000007",
      "message_id": "wamid.EXAMPLE3",
      "message_type": "template",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     "contact": {
      "id": "01a20000-0000-7000-8000-000000000001",
      "full_name": "Ana Souza",
      "chat_id": "5511987654321",
      "phone_number": "+5511987654321",
      "email": null,
      "tags": [
       "vip",
       "newsletter"
      ],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
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
   },
   "status": 0,
   "answer": null
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
      "message": "Welcome and congratulations! This message shows that templates can be sent.",
      "sender_type": "bot-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "delivered",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000007",
      "message_id": "wamid.EXAMPLE3",
      "message_type": "template",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     "contact": {
      "id": "01a20000-0000-7000-8000-000000000001",
      "full_name": "Ana Souza",
      "chat_id": "5511987654321",
      "phone_number": "+5511987654321",
      "email": null,
      "tags": [
       "vip",
       "newsletter"
      ],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
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
     },
     "previous_status": "sent"
    }
   },
   "status": 0,
   "answer": null
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
      "message": "Welcome and congratulations! This message shows that templates can be sent.",
      "sender_type": "bot-chat",
      "created_at": "2026-03-02T09:00:00.000Z",
      "message_status": "read",
      "media_type": null,
      "media_url": null,
      "assignee": null,
      "voice_note_transcription": null,
      "reactions": [],
      "id": "01a20000-0000-7000-8000-000000000007",
      "message_id": "wamid.EXAMPLE3",
      "message_type": "template",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     "contact": {
      "id": "01a20000-0000-7000-8000-000000000001",
      "full_name": "Ana Souza",
      "chat_id": "5511987654321",
      "phone_number": "+5511987654321",
      "email": null,
      "tags": [
       "vip",
       "newsletter"
      ],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
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
     },
     "previous_status": "delivered"
    }
   },
   "status": 0,
   "answer": null
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
      "id": "01a20000-0000-7000-8000-000000000005",
      "message_id": "wamid.EXAMPLE2",
      "message_type": "text",
      "context_message_id": null,
      "error": null,
      "outcome": null
     },
     "contact": {
      "id": "01a20000-0000-7000-8000-000000000001",
      "full_name": "Ana Souza",
      "chat_id": "5511987654321",
      "phone_number": "+5511987654321",
      "email": null,
      "tags": [
       "vip",
       "newsletter"
      ],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
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
   },
   "status": 0,
   "answer": null
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
      "id": "01a20000-0000-7000-8000-000000000004",
      "url": "https://shop.example/hooks/parley",
      "events": [
       "*"
      ],
      "description": "Orders",
      "active": true,
      "created_at": "2026-03-02T09:00:00.000Z",
      "updated_at": "2026-03-02T09:00:00.000Z",
      "disabled_reason": null
     }
    }
   },
   "status": 0,
   "answer": null
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
      "id": "01a20000-0000-7000-8000-000000000003",
      "full_name": "Bruno Lima",
      "chat_id": "5511912345678",
      "phone_number": "+5511912345678",
      "email": null,
      "tags": [],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
      "bot_status": null,
      "allow_broadcast": false,
      "archived": false,
      "blocked": false,
      "active_status": false,
      "has_unread_messages": false,
      "source": {
       "type": "import",
       "created_at": "2026-03-02T09:00:00.000Z"
      },
      "contact_summary": null,
      "contact_summary_updated_at": null,
      "created_at": "2026-03-02T09:00:00.000Z",
      "updated_at": "2026-03-02T09:00:00.000Z"
     }
    }
   },
   "status": 0,
   "answer": null
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
      "id": "01a20000-0000-7000-8000-000000000003",
      "full_name": "Bruno Lima",
      "chat_id": "5511912345678",
      "phone_number": "+5511912345678",
      "email": null,
      "tags": [],
      "organization_id": "01a20000-0000-7000-8000-000000000002",
      "bot_status": null,
      "allow_broadcast": false,
      "archived": false,
      "blocked": false,
      "active_status": false,
      "has_unread_messages": false,
      "source": {
       "type": "import",
       "created_at": "2026-03-02T09:00:00.000Z"
      },
      "contact_summary": null,
      "contact_summary_updated_at": null,
      "created_at": "2026-03-02T09:00:00.000Z",
      "updated_at": "2026-03-02T09:00:00.000Z"
     }
    }
   },
   "status": 0,
   "answer": null
  }
 ],
 "webhooks.rotateSecret": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The webhook has a new secret: keep it; the old one signs as well for 24 hours",
    "webhook": {
     "id": "01a20000-0000-7000-8000-000000000004",
     "url": "https://shop.example/hooks/parley",
     "events": [
      "*"
     ],
     "description": "Orders",
     "active": true,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z",
     "disabled_reason": null,
     "secret": "whsec_EXAMPLE"
    }
   }
  }
 ],
 "webhooks.enable": [
  {
   "name": "example",
   "path": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The webhook is active",
    "webhook": {
     "id": "01a20000-0000-7000-8000-000000000004",
     "url": "https://shop.example/hooks/parley",
     "events": [
      "*"
     ],
     "description": "Orders",
     "active": true,
     "created_at": "2026-03-02T09:00:00.000Z",
     "updated_at": "2026-03-02T09:00:00.000Z",
     "disabled_reason": null
    }
   }
  }
 ],
 "webhooks.delete": [
  {
   "name": "example",
   "body": {
    "id": "01a20000-0000-7000-8000-000000000004"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The webhook 01a20000-0000-7000-8000-000000000004 has been removed"
   }
  }
 ],
 "contacts.erase": [
  {
   "name": "example",
   "query": {
    "phone_number": "+5511987654321"
   },
   "status": 200,
   "answer": {
    "success": true,
    "message": "The contact 5511987654321 and its messages have been erased"
   }
  }
 ]
}

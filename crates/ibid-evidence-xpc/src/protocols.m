// What the two processes say to each other. Every frame is one line, with its line feed.

#import <Foundation/Foundation.h>

// Exported by the service.
@protocol IbidEvidenceHost
- (void)sendFrame:(NSData *)frame;
@end

// Exported by the client.
@protocol IbidEvidenceClient
- (void)deliverFrame:(NSData *)frame;
- (void)hostFailed:(NSString *)reason;
@end

// A protocol that nothing names is left out of the program.
Protocol *ibid_evidence_host_protocol(void) { return @protocol(IbidEvidenceHost); }
Protocol *ibid_evidence_client_protocol(void) { return @protocol(IbidEvidenceClient); }
